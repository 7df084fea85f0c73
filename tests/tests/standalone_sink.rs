//! Goal: what is in a topic comes into the file, every record and no torn line, whatever happens to the worker. Method:
//! the real worker on the real broker, killed and stopped while it writes.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Outgoing, Standalone, Worker, eventually, eventually_true, unique};
use std::{collections::BTreeSet, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(60);

fn writing(cluster: &Cluster, entries: &[(&str, &str)]) -> (Standalone, String) {
    let name = unique("sink");
    let setup = Standalone::new(cluster.bootstrap());
    let file = setup.path("out.txt");
    let mut all = vec![("connector.class", "FileStreamSink"), ("file", file.as_str())];
    all.extend(entries);
    (setup.connector(&name, &all), name)
}

fn stop(mut worker: Worker) {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

fn wait_for_lines(setup: &Standalone, n: usize) -> Vec<String> {
    eventually(&format!("{n} lines in the file"), TIMEOUT, || {
        let text = setup.read("out.txt");
        (text.lines().count() >= n && text.ends_with('\n')).then(|| text.lines().map(str::to_owned).collect())
    })
}

#[test]
fn records_become_lines_and_a_graceful_stop_repeats_none() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("out", 1);
    let (setup, name) = writing(&cluster, &[("topics", &topic)]);
    cluster.produce(&topic, [Outgoing::value("a"), Outgoing::value(""), Outgoing::tombstone("k")]);
    let worker = setup.start();
    assert_eq!(wait_for_lines(&setup, 3), ["a", "", "null"]);
    stop(worker);
    assert_eq!(cluster.committed(&format!("connect-{name}"), &topic)[&0], 3);
    cluster.produce(&topic, [Outgoing::value("b")]);
    let worker = setup.start();
    assert_eq!(wait_for_lines(&setup, 4), ["a", "", "null", "b"]);
    stop(worker);
}

#[test]
fn every_record_survives_kills_and_no_line_is_torn() {
    const RECORDS: usize = 30_000;
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("kills", 3);
    let (setup, _) = writing(
        &cluster,
        &[
            ("topics", &topic),
            ("tasks.max", "2"),
            // How long the group waits for a member that was killed.
            ("consumer.override.session.timeout.ms", "3000"),
            ("consumer.override.heartbeat.interval.ms", "500"),
        ],
    );
    let value = |i: usize| format!("record {i} {}", "y".repeat(i % 90));
    for kill in 0..5 {
        let part = kill * RECORDS / 5..(kill + 1) * RECORDS / 5;
        cluster.produce(&topic, part.clone().map(|i| Outgoing::keyed(format!("{}", i % 7), value(i))));
        let mut worker = setup.start();
        let before = setup.read("out.txt").len();
        eventually_true("the file grows", TIMEOUT, || setup.read("out.txt").len() > before + 1000);
        worker.kill9();
    }
    let worker = setup.start();
    eventually_true("every record is in the file", TIMEOUT, || {
        let text = setup.read("out.txt");
        let found: BTreeSet<&str> = text.lines().collect();
        (0..RECORDS).all(|i| found.contains(value(i).as_str()))
    });
    stop(worker);
    let text = setup.read("out.txt");
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        let number = line.split(' ').nth(1).and_then(|i| i.parse().ok());
        assert_eq!(number.map(value).as_deref(), Some(line), "a torn line");
    }
}

#[test]
fn topics_are_matched_by_a_java_regular_expression() {
    let cluster = Cluster::shared();
    let prefix = unique("match");
    for suffix in ["1", "2", "x"] {
        cluster.create_topic(&format!("{prefix}-{suffix}"), 1, &[]);
        cluster.produce(&format!("{prefix}-{suffix}"), [Outgoing::value(suffix)]);
    }
    let pattern = format!("{prefix}-(?=[0-9]).+");
    let (setup, _) =
        writing(&cluster, &[("topics.regex", &pattern), ("consumer.override.metadata.max.age.ms", "1000")]);
    let worker = setup.start();
    let mut lines = wait_for_lines(&setup, 2);
    lines.sort();
    assert_eq!(lines, ["1", "2"]);
    cluster.create_topic(&format!("{prefix}-3"), 1, &[]);
    cluster.produce(&format!("{prefix}-3"), [Outgoing::value("3")]);
    wait_for_lines(&setup, 3);
    stop(worker);
    assert!(!setup.read("out.txt").contains('x'));
}

#[test]
fn a_topic_with_200_partitions_is_read_whole() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("wide", 200);
    let (setup, _) = writing(&cluster, &[("topics", &topic)]);
    cluster.produce(&topic, (0..1000).map(|i| Outgoing::value(format!("{i}")).to_partition(i % 200)));
    let worker = setup.start();
    let lines: BTreeSet<String> = wait_for_lines(&setup, 1000).into_iter().collect();
    assert_eq!(lines.len(), 1000);
    stop(worker);
}

#[test]
fn a_payload_that_cannot_be_read_fails_the_task_with_its_place_and_commits_nothing_beyond_it() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("bad", 1);
    let json = ("value.converter", "org.apache.kafka.connect.json.JsonConverter");
    let (setup, name) = writing(&cluster, &[("topics", &topic), json, ("value.converter.schemas.enable", "false")]);
    cluster.produce(&topic, [Outgoing::value("\"good\""), Outgoing::value("{not json"), Outgoing::value("\"later\"")]);
    let mut worker = setup.start();
    let log = worker.wait_for_log("task failed", TIMEOUT);
    assert!(log.contains(&format!("{topic}-0@1")), "the log names the record's place");
    stop(worker);
    assert_eq!(setup.read("out.txt"), "good\n");
    assert_eq!(cluster.committed(&format!("connect-{name}"), &topic).get(&0), Some(&1));
}

#[test]
fn a_full_disk_moves_no_offset() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("full", 1);
    let name = unique("sink");
    let setup = Standalone::new(cluster.bootstrap())
        .connector(&name, &[("connector.class", "FileStreamSink"), ("file", "/dev/full"), ("topics", &topic)]);
    cluster.produce(&topic, [Outgoing::value("a")]);
    let mut worker = setup.start();
    worker.wait_for_log("No space left on device", TIMEOUT);
    stop(worker);
    assert!(cluster.committed(&format!("connect-{name}"), &topic).get(&0).is_none_or(|offset| *offset == 0));
}
