//! Goal: a worker needs no right on its brokers that the reference does not name, and says which one is missing. Method: a
//! broker of the test's own that allows its user what the test says and nothing else; some connectors of one worker may do
//! what they want, each of the others lacks one right.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, SecureBroker, Standalone, eventually_true};
use std::{fs::OpenOptions, io::Write as _, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(90);
const SOURCE: (&str, &str) = ("connector.class", "FileStreamSource");
const SINK: (&str, &str) = ("connector.class", "FileStreamSink");

fn worker(broker: &SecureBroker) -> Standalone {
    let entries = broker.sasl_ssl("PLAIN", SecureBroker::PASSWORD);
    let setup = Standalone::new(broker.kafka().bootstrap_of("SASL_SSL"));
    let setup = entries.iter().filter(|(key, _)| key != "bootstrap.servers").fold(setup, |setup, (key, value)| {
        let prefixes = ["", "producer.", "consumer.", "admin."].iter();
        prefixes.fold(setup, |setup, prefix| setup.set(&format!("{prefix}{key}"), value.clone()))
    });
    setup.set("offset.storage.topic", "may-offsets")
}

#[test]
fn the_rights_of_the_reference_are_enough_and_a_missing_one_is_named() {
    let broker = SecureBroker::start_with_rights();
    broker.allow(&["Read", "Write", "Create"], "topic", "may-");
    broker.allow(&["Read"], "group", "connect-may-");
    broker.allow(&["Write"], "transactional-id", "connect-standalone-may-exactly-");
    Cluster::at(broker.kafka().bootstrap()).create_topic("not-this", 1, &[]);
    let setup = worker(&broker);
    setup.write("in.txt", "one\ntwo\n");
    let (input, output) = (setup.path("in.txt"), setup.path("out.txt"));
    let source = |topic: &'static str| [SOURCE, ("file", input.as_str()), ("topic", topic)];
    let exactly_once = ("exactly.once.source.support", "enabled");
    let setup = setup
        .connector("may-source", &source("may-lines"))
        .connector("may-exactly-once", &[&source("may-transactions")[..], &[exactly_once]].concat())
        .connector("may-sink", &[SINK, ("file", &output), ("topics", "may-lines,may-transactions"), ("tasks.max", "2")])
        .connector("may-not-write", &source("not-this"))
        .connector("may-not-create", &source("not-there"))
        .connector("may-not-commit", &[&source("may-transactions")[..], &[exactly_once]].concat())
        .connector("may-not-read", &[SINK, ("topics", "not-this"), ("file", &output)])
        .connector("not-this-group", &[SINK, ("topics", "may-lines"), ("file", &output)]);
    let mut worker = setup.start();
    let lines = |setup: &Standalone| {
        let mut lines: Vec<String> = setup.read("out.txt").lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    eventually_true("what may be moved is moved", TIMEOUT, || lines(&setup) == ["one", "one", "two", "two"]);
    for (connector, expected) in [
        ("may-not-write", "not-this"),
        ("may-not-create", "not-there"),
        ("may-not-commit", "connect-standalone-may-not-commit-0"),
        ("may-not-read", "not-this"),
        ("not-this-group", "connect-not-this-group"),
    ] {
        let failed = format!("connector={connector} task=0 error=");
        let log = worker.wait_for_log(&failed, TIMEOUT);
        let line = log.lines().find(|line| line.contains(&failed)).unwrap_or_default();
        assert!(line.contains(expected) && line.to_lowercase().contains("authorization"), "{line}");
    }
    // What a killed worker has left is found with the same rights.
    worker.kill9();
    worker = setup.start();
    let mut file = OpenOptions::new().append(true).open(&input).expect("the input is there");
    file.write_all(b"three\n").expect("the input can be written to");
    // At least once from both topics: what was not committed when the worker was killed may come again.
    eventually_true("more is moved", TIMEOUT, || lines(&setup).iter().filter(|line| *line == "three").count() >= 2);
    let log = worker.log();
    let complains = |line: &&str| line.contains("could not be looked") && line.contains("may-sink");
    assert_eq!(log.lines().find(complains), None);
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}
