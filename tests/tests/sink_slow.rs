//! Goal: a sink that takes its time, or asks for it, keeps its partitions, and gets nothing twice. Method: sinks that sleep
//! past the poll interval or fail some times, in the real worker on the real broker.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Outgoing, Standalone, Worker, connectors::record_files, eventually_true, unique};
use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

const TIMEOUT: Duration = Duration::from_secs(60);
/// Below what a put takes.
const SHORT: [(&str, &str); 3] = [
    ("consumer.override.max.poll.interval.ms", "3000"),
    ("consumer.override.session.timeout.ms", "3000"),
    ("consumer.override.heartbeat.interval.ms", "500"),
];

struct Sink {
    cluster: Cluster,
    topic: String,
    group: String,
    setup: Standalone,
}

impl Sink {
    fn new(class: &str, entries: &[(&str, &str)]) -> Self {
        let cluster = Cluster::shared();
        let (topic, name) = (cluster.new_topic("slow", 2), unique(class));
        let setup = Standalone::new(cluster.bootstrap()).test_worker();
        let dir = setup.path("out");
        fs::create_dir(&dir).unwrap();
        let mut all = vec![("connector.class", class), ("topics", topic.as_str()), ("dir", dir.as_str())];
        all.extend(entries);
        let setup = setup.connector(&name, &all);
        Self { cluster, topic, group: format!("connect-{name}"), setup }
    }

    fn produce(&self, n: i32) {
        self.cluster.produce(&self.topic, (0..n).map(|i| Outgoing::value(format!("v{i}")).to_partition(i % 2)));
    }

    fn written(&self) -> BTreeMap<(i32, i64), Vec<String>> {
        record_files::read(&self.setup.dir().join("out"), &self.topic)
    }

    fn wait_until_written(&self, n: usize) {
        eventually_true("everything is written", TIMEOUT, || self.written().len() == n);
        assert!(self.written().values().all(|values| values.len() == 1), "nothing is written twice");
    }
}

fn stop(mut worker: Worker) -> String {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
    worker.log()
}

#[test]
fn a_put_longer_than_the_poll_interval_keeps_the_partitions_and_gets_nothing_twice() {
    let kip_848 = [("consumer.override.group.protocol", "consumer"), SHORT[0]];
    let classic = SHORT;
    for (entries, blocking) in [(&classic[..], "false"), (&classic[..], "true"), (&kip_848[..], "false")] {
        let own = [("delay.ms", "5000"), ("blocking", blocking)];
        let sink = Sink::new("slow", &[entries, &own].concat());
        sink.produce(10);
        let mut worker = sink.setup.start();
        worker.wait_for_log("put begins", TIMEOUT);
        // They wait in the consumer during the put.
        sink.produce(10);
        sink.wait_until_written(20);
        let log = stop(worker);
        assert!(!log.contains("partitions lost") && !log.contains("partitions revoked"), "{entries:?}: {log}");
        assert_eq!(log.matches("partitions assigned").count(), 1);
        assert_eq!(sink.cluster.committed(&sink.group, &sink.topic), BTreeMap::from([(0, 10), (1, 10)]));
    }
}

#[test]
fn a_stop_during_a_long_put_waits_for_the_graceful_time_out_only() {
    for blocking in ["false", "true"] {
        let sink = Sink::new("slow", &[("delay.ms", "45000"), ("blocking", blocking)]);
        sink.produce(10);
        let mut worker = sink.setup.start();
        worker.wait_for_log("put begins", TIMEOUT);
        let stopped = Instant::now();
        worker.terminate();
        worker.wait_for_exit(TIMEOUT);
        let took = stopped.elapsed();
        assert!(took < Duration::from_secs(20), "blocking {blocking}: {took:?}");
        println!("blocking {blocking}: stopped after {took:?}");
        let log = worker.log();
        assert!(log.contains("did not stop within `task.shutdown.graceful.timeout.ms`"), "{log}");
        assert!(sink.cluster.committed(&sink.group, &sink.topic).values().all(|offset| *offset == 0));
    }
}

#[test]
fn a_failed_put_is_tried_again_with_the_same_records_after_the_error_s_own_delay() {
    let own = [("failures", "3"), ("retry.after.ms", "2000")];
    let sink = Sink::new("stubborn", &[&SHORT[..], &own].concat());
    sink.produce(10);
    let worker = sink.setup.start();
    sink.wait_until_written(10);
    sink.produce(10);
    sink.wait_until_written(20);
    let log = stop(worker);
    let tries: Vec<&str> = log.lines().filter(|line| line.contains("put tried")).take(4).collect();
    let field = |line: &str, key: &str| {
        let rest = &line[line.find(key).unwrap() + key.len()..];
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<u64>().unwrap()
    };
    for line in &tries[1..] {
        let waited = field(line, "waited_ms=");
        assert!((2000..20_000).contains(&waited), "{line}");
        for key in ["first=", "last="] {
            assert_eq!(field(line, key), field(tries[0], key), "{line}");
        }
    }
    assert!(!log.contains("partitions lost"));
    assert_eq!(sink.cluster.committed(&sink.group, &sink.topic), BTreeMap::from([(0, 10), (1, 10)]));
}

#[test]
fn a_sink_that_calls_written_what_it_still_holds_fails() {
    for (key, answer, said) in [("running", "all", "`all()`"), ("closing", "claim", "`all_written()`")] {
        let sink = Sink::new("keeper", &[(key, answer)]);
        sink.produce(10);
        let mut worker = sink.setup.start();
        worker.wait_for_log("records held", TIMEOUT);
        if key == "running" {
            worker.wait_for_log("task failed", TIMEOUT);
        }
        let log = stop(worker);
        assert!(log.contains(&format!("`pre_commit` answers {said}, but the sink still holds")), "{log}");
        // The one that tells the truth in the end is believed then.
        let committed: i64 = sink.cluster.committed(&sink.group, &sink.topic).values().sum();
        assert_eq!(committed, if key == "running" { 10 } else { 0 });
        assert_eq!(sink.written().len(), if key == "running" { 10 } else { 0 });
    }
}
