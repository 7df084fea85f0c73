//! Goal: a broker that goes away costs nothing but time. Method: a broker of the test's own, killed and restarted under
//! the real worker, and a worker that is started before its broker.
#![forbid(unsafe_code)]

use connect_tests::{
    Cluster, Standalone,
    broker::{self, Options},
    eventually_true, unique,
};
use std::{fs::OpenOptions, io::Write, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(90);

fn piped(bootstrap: &str, topic: &str) -> Standalone {
    let setup = Standalone::new(bootstrap);
    let (input, output) = (setup.path("in.txt"), setup.path("out.txt"));
    setup.write("in.txt", "0\n");
    setup
        .connector(&unique("source"), &[("connector.class", "FileStreamSource"), ("file", &input), ("topic", topic)])
        .connector(
            &unique("sink"),
            &[
                ("connector.class", "FileStreamSink"),
                ("file", &output),
                ("topics", topic),
                // How long the group waits for a member that could not say goodbye.
                ("consumer.override.session.timeout.ms", "3000"),
                ("consumer.override.heartbeat.interval.ms", "500"),
            ],
        )
}

fn append(setup: &Standalone, lines: std::ops::Range<usize>) {
    let mut file = OpenOptions::new().append(true).open(setup.path("in.txt")).unwrap();
    for i in lines {
        writeln!(file, "{i}").unwrap();
    }
}

fn numbers(n: usize) -> Vec<String> {
    (0..n).map(|i| i.to_string()).collect()
}

#[test]
fn a_killed_broker_costs_no_record_and_doubles_none() {
    let mut kafka = broker::start(Options::new());
    let topic = unique("survivor");
    let setup = piped(kafka.bootstrap(), &topic);
    let mut worker = setup.start();
    for round in 0..2 {
        let from = 1 + round * 500;
        append(&setup, from..from + 250);
        eventually_true("the lines came through", TIMEOUT, || setup.read("out.txt").lines().count() >= from + 250);
        kafka.kill9().unwrap();
        append(&setup, from + 250..from + 500);
        worker.wait_for_log("broker cannot be reached, trying again", TIMEOUT);
        kafka.restart().unwrap();
        eventually_true("the worker goes on by itself", TIMEOUT, || {
            setup.read("out.txt").lines().count() >= from + 500
        });
    }
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
    assert_eq!(Cluster::at(kafka.bootstrap()).read_texts(&topic), numbers(1001));
    // The sink may have written records whose commit the broker did not live to see.
    let lines: Vec<String> = setup.read("out.txt").lines().map(str::to_owned).collect();
    let mut distinct = lines.clone();
    distinct.sort_by_key(|l| l.parse::<usize>().unwrap());
    distinct.dedup();
    assert_eq!(distinct, numbers(1001));
}

#[test]
fn a_worker_that_is_started_before_its_broker_goes_on_when_it_comes() {
    let mut kafka = broker::start(Options::new());
    let bootstrap = kafka.bootstrap().to_owned();
    kafka.stop().unwrap();
    let topic = unique("patience");
    let setup = piped(&bootstrap, &topic);
    let mut worker = setup.start();
    worker.wait_for_log("broker cannot be reached, trying again", TIMEOUT);
    kafka.restart().unwrap();
    eventually_true("the line came through", TIMEOUT, || setup.read("out.txt") == "0\n");
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

#[test]
fn a_worker_can_be_stopped_while_its_broker_is_away() {
    let mut kafka = broker::start(Options::new());
    let topic = unique("stopped");
    let setup = piped(kafka.bootstrap(), &topic);
    let mut worker = setup.start();
    eventually_true("the line came through", TIMEOUT, || setup.read("out.txt") == "0\n");
    kafka.kill9().unwrap();
    append(&setup, 1..10);
    worker.terminate();
    // The graceful time-out of the tasks, and a little for the rest.
    assert_eq!(worker.wait_for_code(Duration::from_secs(20)), 0);
    kafka.restart().unwrap();
    let worker = setup.start();
    eventually_true("nothing was lost", TIMEOUT, || setup.read("out.txt").lines().last() == Some("9"));
    drop(worker);
}
