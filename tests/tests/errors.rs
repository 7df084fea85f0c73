//! Goal: a record that a step cannot take is nowhere lost: in the dead letter queue with Kafka's own headers, or the task
//! stands before it. Method: the real worker, and Java's beside it, on the real broker with bad records among good ones.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Incoming, Isolation, Outgoing, Standalone, Worker, eventually, eventually_true, unique};
use std::{collections::BTreeSet, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(60);

/// The context headers of a sink's dead letter, in Kafka's order.
const HEADERS: [&str; 10] = [
    "__connect.errors.topic",
    "__connect.errors.partition",
    "__connect.errors.offset",
    "__connect.errors.connector.name",
    "__connect.errors.task.id",
    "__connect.errors.stage",
    "__connect.errors.class.name",
    "__connect.errors.exception.class.name",
    "__connect.errors.exception.message",
    "__connect.errors.exception.stacktrace",
];
const JSON: &str = "org.apache.kafka.connect.json.JsonConverter";

/// A file sink that reads JSON, and its name.
fn sink(cluster: &Cluster, topic: &str, entries: &[(&str, &str)]) -> (Standalone, String) {
    let name = unique("errors");
    let setup = Standalone::new(cluster.bootstrap());
    let file = setup.path("out.txt");
    let mut all = vec![
        ("connector.class", "FileStreamSink"),
        ("file", file.as_str()),
        ("topics", topic),
        ("value.converter", JSON),
        ("value.converter.schemas.enable", "false"),
    ];
    all.extend(entries);
    (setup.connector(&name, &all), name)
}

fn with_queue<'a>(topic: &'a str, tolerance: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("errors.tolerance", tolerance),
        ("errors.deadletterqueue.topic.name", topic),
        ("errors.deadletterqueue.topic.replication.factor", "1"),
        ("errors.deadletterqueue.context.headers.enable", "true"),
    ]
}

fn stop(mut worker: Worker) {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

fn committed(cluster: &Cluster, name: &str, topic: &str) -> i64 {
    cluster.committed(&format!("connect-{name}"), topic).get(&0).copied().unwrap_or(0)
}

fn header<'a>(record: &'a Incoming, name: &str) -> &'a str {
    let value = record.headers.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.as_deref());
    std::str::from_utf8(value.unwrap_or_else(|| panic!("no header `{name}`"))).expect("headers are UTF-8")
}

/// A good record, a bad one with everything a record can have, a good one.
fn bad_in_the_middle() -> [Outgoing; 3] {
    let mut bad = Outgoing::keyed("key", "{not json").header("own", Some(b"1")).header("none", None);
    bad.timestamp_ms = Some(1_700_000_000_123);
    [Outgoing::value("\"good\""), bad, Outgoing::value("\"later\"")]
}

#[test]
fn dead_letters_have_the_headers_of_javas_worker_one_by_one() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("errors", 1);
    cluster.produce(&topic, bad_in_the_middle());
    let letter = |java: bool| {
        let queue = unique("dlq");
        let class = if java { "org.apache.kafka.connect.file.FileStreamSinkConnector" } else { "FileStreamSink" };
        let mut entries = with_queue(&queue, "all").to_vec();
        entries.push(("connector.class", class));
        let (setup, name) = sink(&cluster, &topic, &entries);
        let mut worker = if java { setup.start_java() } else { setup.start() };
        eventually_true("the bad record is passed over", TIMEOUT, || committed(&cluster, &name, &topic) == 3);
        let letter = cluster.wait_for_records(&queue, 1, TIMEOUT).remove(0);
        worker.terminate();
        // A Java process says by its exit code that a signal has ended it.
        let code = worker.wait_for_code(TIMEOUT);
        assert!(code == 0 || java, "{code}");
        assert_eq!(cluster.partitions(&queue), Some(1));
        assert_eq!(setup.read("out.txt"), "good\nlater\n");
        assert_eq!(header(&letter, "__connect.errors.connector.name"), name);
        letter
    };
    let (ours, javas) = (letter(false), letter(true));
    for letter in [&ours, &javas] {
        let names: Vec<_> = letter.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, [&["own", "none"], &HEADERS[..]].concat());
        assert_eq!((letter.key.as_deref(), letter.value.as_deref()), (Some(&b"key"[..]), Some(&b"{not json"[..])));
        assert_eq!(letter.timestamp_ms, Some(1_700_000_000_123));
    }
    assert_eq!(ours.headers[..2], javas.headers[..2], "the record's own headers");
    // The words of an error are ours; the name of the connector is another for each.
    for name in
        HEADERS.iter().filter(|n| !["connector.name", "message", "stacktrace"].iter().any(|own| n.ends_with(own)))
    {
        assert_eq!(header(&ours, name), header(&javas, name), "{name}");
    }
    assert_eq!(header(&ours, "__connect.errors.stage"), "VALUE_CONVERTER");
    assert_eq!(header(&ours, "__connect.errors.class.name"), JSON);
    let trace = header(&ours, "__connect.errors.exception.stacktrace");
    let message = header(&ours, "__connect.errors.exception.message");
    assert_eq!(trace, format!("org.apache.kafka.connect.errors.DataException: {message}"));
}

#[test]
fn without_tolerance_the_task_fails_before_the_record_which_is_in_the_queue() {
    let cluster = Cluster::shared();
    let (topic, queue) = (cluster.new_topic("errors", 1), unique("dlq"));
    cluster.produce(&topic, bad_in_the_middle());
    let (setup, name) = sink(&cluster, &topic, &with_queue(&queue, "none"));
    let mut worker = setup.start();
    let log = worker.wait_for_log("task failed", TIMEOUT);
    assert!(log.contains(&format!("{topic}-0@1")), "the log names the record");
    assert_eq!(cluster.wait_for_records(&queue, 1, TIMEOUT)[0].text(), "{not json");
    stop(worker);
    assert_eq!((setup.read("out.txt"), committed(&cluster, &name, &topic)), ("good\n".to_owned(), 1));
}

#[test]
fn a_replication_factor_that_the_cluster_cannot_give_is_told_with_its_key() {
    let cluster = Cluster::shared();
    let (topic, queue) = (cluster.new_topic("errors", 1), unique("dlq"));
    let mut entries = with_queue(&queue, "all");
    entries[2].1 = "3";
    let (setup, _) = sink(&cluster, &topic, &entries);
    let mut worker = setup.start();
    let log = worker.wait_for_log("task failed", TIMEOUT);
    let line = log.lines().find(|line| line.contains("task failed")).unwrap_or_default();
    for part in [&*queue, "`errors.deadletterqueue.topic.replication.factor`=3"] {
        assert!(line.contains(part), "{line}");
    }
    stop(worker);
    assert_eq!(cluster.partitions(&queue), None);
}

#[test]
fn a_queue_that_takes_nothing_holds_the_offset_and_a_kill_loses_nothing() {
    let cluster = Cluster::shared();
    let (topic, queue) = (cluster.new_topic("errors", 1), unique("dlq"));
    // More replicas in sync than there are brokers: every write is refused, to be tried again.
    cluster.create_topic(&queue, 1, &[("min.insync.replicas", "2")]);
    cluster.produce(&topic, bad_in_the_middle());
    let (setup, name) = sink(&cluster, &topic, &with_queue(&queue, "all"));
    let mut worker = setup.start();
    eventually_true("good records are written meanwhile", TIMEOUT, || setup.read("out.txt") == "good\nlater\n");
    worker.kill9();
    assert_eq!(committed(&cluster, &name, &topic), 0, "put, and not acknowledged by the queue");
    cluster.delete_topic(&queue);
    eventually_true("the queue is gone", TIMEOUT, || cluster.partitions(&queue).is_none());
    let worker = setup.start();
    eventually_true("everything is read", TIMEOUT, || committed(&cluster, &name, &topic) == 3);
    assert_eq!(cluster.wait_for_records(&queue, 1, TIMEOUT)[0].text(), "{not json");
    stop(worker);
    let lines: BTreeSet<String> = setup.read("out.txt").lines().map(str::to_owned).collect();
    assert_eq!(lines, BTreeSet::from(["good".to_owned(), "later".to_owned()]));
}

#[test]
fn kills_among_bad_and_good_records_lose_none_of_either() {
    const RECORDS: usize = 3_000;
    let cluster = Cluster::shared();
    let (topic, queue) = (cluster.new_topic("errors", 1), unique("dlq"));
    let text = |i: usize| if i % 7 == 3 { format!("{{bad {i}") } else { format!("\"good {i}\"") };
    cluster.produce(&topic, (0..RECORDS).map(|i| Outgoing::value(text(i))));
    let mut entries = with_queue(&queue, "all").to_vec();
    entries.push(("consumer.override.max.poll.records", "50"));
    let (setup, name) = sink(&cluster, &topic, &entries);
    for n in 0..4 {
        let mut worker = setup.start();
        let at = n * RECORDS as i64 / 5;
        eventually_true("the worker is at work", TIMEOUT, || committed(&cluster, &name, &topic) >= at.max(1));
        worker.kill9();
    }
    let worker = setup.start();
    eventually_true("everything is read", TIMEOUT, || committed(&cluster, &name, &topic) == RECORDS as i64);
    stop(worker);
    let letters: BTreeSet<String> = cluster.read(&queue, Isolation::ReadCommitted).iter().map(Incoming::text).collect();
    let written = setup.read("out.txt");
    let written: BTreeSet<&str> = written.lines().collect();
    for i in 0..RECORDS {
        let text = text(i);
        let there =
            if text.starts_with('"') { written.contains(text.trim_matches('"')) } else { letters.contains(&text) };
        assert!(there, "`{text}` is nowhere");
    }
    assert_eq!(letters.len(), (0..RECORDS).filter(|i| i % 7 == 3).count());
}

#[test]
fn a_source_puts_its_bad_records_into_the_queue_in_their_order() {
    let cluster = Cluster::shared();
    let (topic, queue, name) = (cluster.new_topic("errors", 1), unique("dlq"), unique("errors"));
    let setup = Standalone::new(cluster.bootstrap());
    let input = setup.write("in.txt", "first\nsecond\nthird\n");
    let input = input.display().to_string();
    let mut entries = with_queue(&queue, "all").to_vec();
    entries.extend([
        ("connector.class", "FileStreamSource"),
        ("file", &*input),
        ("topic", &*topic),
        // A text is not a number.
        ("key.converter", "org.apache.kafka.connect.storage.StringConverter"),
        ("value.converter", "org.apache.kafka.connect.converters.LongConverter"),
        ("errors.log.enable", "true"),
        ("errors.log.include.messages", "true"),
    ]);
    let setup = setup.connector(&name, &entries);
    let mut worker = setup.start();
    let letters = cluster.wait_for_records(&queue, 3, TIMEOUT);
    assert_eq!(letters.iter().map(Incoming::text).collect::<Vec<_>>(), ["first", "second", "third"]);
    assert_eq!(header(&letters[1], "__connect.errors.topic"), topic);
    assert_eq!(header(&letters[1], "__connect.errors.source.offset"), r#"{"position":13}"#);
    assert!(header(&letters[1], "__connect.errors.source.partition").contains("in.txt"));
    let class = "org.apache.kafka.connect.converters.LongConverter";
    let line =
        format!("Error encountered in task {name}-0. Executing stage 'VALUE_CONVERTER' with class '{class}', where");
    worker.wait_for_log(&line, TIMEOUT);
    eventually("the offset moves past them", TIMEOUT, || setup.read("offsets").contains("19").then_some(()));
    worker.terminate();
    let log = worker.wait_for_log("task ended", TIMEOUT);
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
    let totals = log.lines().find(|line| line.contains("task ended")).unwrap_or_default();
    assert!(totals.contains("failed=3") && totals.contains("dead_letters=3"), "{totals}");
    assert_eq!(cluster.read(&topic, Isolation::ReadCommitted).len(), 0);
}
