//! Goal: the other integration tests can trust their tools. Method: each tool is used on the real broker, its failing
//! side included.
#![forbid(unsafe_code)]

use std::time::Duration;

use connect_tests::broker::{self, Options};
use connect_tests::{Cluster, Isolation, Outcome, Outgoing, Standalone, Worker, eventually_true, unique};

const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn records_are_read_back_as_they_were_produced() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("harness", 2);
    assert_eq!(cluster.partitions(&topic), Some(2));
    let records = [
        Outgoing { timestamp_ms: Some(1_234), ..Outgoing::keyed("k", "v").header("h", Some(b"x")).header("n", None) },
        Outgoing::tombstone("k"),
        Outgoing::value(""),
    ];
    cluster.produce(&topic, records.clone().map(|record| record.to_partition(1)));
    let read = cluster.read(&topic, Isolation::ReadCommitted);
    let found: Vec<_> = read.iter().map(|r| (r.partition, r.offset, r.key.clone(), r.value.clone())).collect();
    let expected: Vec<_> = records.iter().zip(0..).map(|(r, n)| (1, n, r.key.clone(), r.value.clone())).collect();
    assert_eq!(found, expected);
    assert_eq!(read[0].headers, records[0].headers);
    assert_eq!(read[0].timestamp_ms, Some(1_234));
    assert_eq!(cluster.wait_for_records(&topic, 3, TIMEOUT), read);
    cluster.delete_topic(&topic);
}

#[test]
fn a_topic_that_is_not_there_is_empty_and_is_not_created_by_looking() {
    let cluster = Cluster::shared();
    let topic = unique("absent");
    assert!(cluster.read(&topic, Isolation::ReadUncommitted).is_empty());
    assert_eq!(cluster.partitions(&topic), None);
}

#[test]
fn topic_properties_are_set_and_seen() {
    let cluster = Cluster::shared();
    let topic = unique("compacted");
    cluster.create_topic(&topic, 1, &[("cleanup.policy", "compact")]);
    assert_eq!(cluster.topic_property(&topic, "cleanup.policy").as_deref(), Some("compact"));
}

#[test]
fn aborted_records_are_hidden_from_read_committed_only() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("transactions", 1);
    cluster.produce_in_transaction(&topic, [Outgoing::value("kept")], Outcome::Commit);
    cluster.produce_in_transaction(&topic, [Outgoing::value("dropped")], Outcome::Abort);
    assert_eq!(cluster.read_texts(&topic), ["kept"]);
    let all = cluster.read(&topic, Isolation::ReadUncommitted);
    assert_eq!(all.iter().map(connect_tests::Incoming::text).collect::<Vec<_>>(), ["kept", "dropped"]);
}

#[test]
fn a_killed_broker_comes_back_at_the_same_address_with_its_data() {
    let mut kafka = broker::start(Options::new());
    let cluster = Cluster::at(kafka.bootstrap());
    let topic = cluster.new_topic("survivors", 1);
    cluster.produce(&topic, [Outgoing::value("a"), Outgoing::value("b")]);
    let before = kafka.bootstrap().to_owned();
    kafka.kill9().unwrap();
    kafka.restart().unwrap();
    assert_eq!(kafka.bootstrap(), before);
    assert_eq!(cluster.read_texts(&topic), ["a", "b"]);
    kafka.stop().unwrap();
    kafka.stop().unwrap_err();
    kafka.restart().unwrap();
    assert_eq!(cluster.read_texts(&topic), ["a", "b"]);
}

#[test]
fn java_s_worker_runs_on_the_same_files() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("java", 1);
    let files = Standalone::new(cluster.bootstrap());
    files.write("in.txt", "one\ntwo\n");
    let input = files.path("in.txt");
    let files =
        files.connector("lines", &[("connector.class", "FileStreamSource"), ("file", &input), ("topic", &topic)]);
    let mut worker = files.start_java();
    let records = cluster.wait_for_records(&topic, 2, TIMEOUT);
    assert_eq!(records.iter().map(connect_tests::Incoming::text).collect::<Vec<_>>(), ["one", "two"]);
    worker.terminate();
    worker.wait_for_exit(TIMEOUT);
    assert!(std::fs::metadata(files.path("offsets")).unwrap().len() > 0);
}

#[test]
fn a_worker_s_log_and_exit_are_seen() {
    let dir = tempfile::TempDir::new().unwrap();
    let log = dir.path().join("log");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "echo out; echo err >&2; trap 'exit 7' TERM; while :; do :; done"]);
    let mut worker = Worker::run(command, &log);
    worker.wait_for_log("out", TIMEOUT);
    worker.wait_for_log("err", TIMEOUT);
    assert!(worker.ended().is_none());
    // The trap is set a moment after the lines are out.
    eventually_true("the shell ends on SIGTERM", TIMEOUT, || {
        if worker.ended().is_none() {
            worker.terminate();
        }
        worker.ended().is_some()
    });
    worker.wait_for_exit(TIMEOUT);
    worker.kill9();
}
