//! Goal: a connector that cannot be exactly-once as asked is refused with what to do about it, and one that runs says what
//! it guarantees. Method: the real worker on the real broker, with good and bad connectors side by side.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Standalone, Worker, unique};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);
const ON: (&str, &str) = ("exactly.once.source.support", "enabled");
const REQUIRED: (&str, &str) = ("exactly.once.support", "required");

/// A worker whose offsets are in a topic.
fn with_topic(cluster: &Cluster) -> Standalone {
    let setup = Standalone::new(cluster.bootstrap()).test_worker().unset("offset.storage.file.filename");
    setup.set("offset.storage.topic", unique("offsets")).set("offset.storage.partitions", "3")
}

/// The part of the log in which this connector is refused.
fn refusal(worker: &mut Worker, name: &str) -> String {
    let log = worker.wait_for_log("worker started", TIMEOUT);
    let lines: Vec<&str> = log.lines().collect();
    let at = lines.iter().position(|line| line.contains("connector failed") && line.contains(name));
    let at = at.unwrap_or_else(|| panic!("`{name}` was not refused"));
    let end = lines[at + 1..].iter().position(|line| !line.starts_with("  ")).map_or(lines.len(), |n| at + 1 + n);
    lines[at..end].join("\n")
}

#[test]
fn what_cannot_be_exactly_once_is_refused_alone_and_all_of_it_is_said() {
    let cluster = Cluster::shared();
    let topic = unique("good");
    let numbers = ("connector.class", "numbers");
    let to = ("topic", topic.as_str());
    let setup = with_topic(&cluster)
        .connector("good", &[numbers, to, ("limit", "1"), ON, REQUIRED])
        .connector("off", &[numbers, to, REQUIRED])
        .connector("disabled", &[numbers, to, REQUIRED, (ON.0, "disabled")])
        .connector(
            "unsupported",
            &[
                ("connector.class", "unrepeatable"),
                to,
                REQUIRED,
                ON,
                ("transaction.boundary", "connector"),
                ("transaction.boundary.max.bytes", "100000"),
                ("tasks.max", "none"),
            ],
        )
        .connector("stdin", &[("connector.class", "FileStreamSource"), to, REQUIRED, ON])
        .connector("typo", &[numbers, to, (ON.0, "yes")]);
    let mut worker = setup.start();
    for (name, expected) in [
        (
            "off",
            &[
                "This worker does not have exactly-once source support enabled.",
                "`exactly.once.source.support=enabled`",
            ][..],
        ),
        ("disabled", &["`exactly.once.source.support` of the connector is `disabled`"]),
        (
            "unsupported",
            &[
                "4 error(s)",
                "The connector does not support exactly-once semantics with the provided configuration.",
                "its queue forgets what it has handed out",
                "The connector does not support connector-defined transaction boundaries with the given configuration.",
                "`transaction.boundary.max.bytes` bounds the transactions of `transaction.boundary=interval`",
                "tasks.max",
            ],
        ),
        ("stdin", &["provided configuration.", "`FileStreamSource` says: "]),
        ("typo", &["exactly.once.source.support", "yes"]),
    ] {
        let refusal = refusal(&mut worker, name);
        for text in expected {
            assert!(refusal.contains(text), "`{text}` is not in\n{refusal}");
        }
    }
    assert_eq!(cluster.wait_for_records(&topic, 1, TIMEOUT).len(), 1, "the others run");
}

#[test]
fn a_worker_with_nothing_but_an_offset_file_names_the_two_keys_that_would_do() {
    let cluster = Cluster::shared();
    let (own, topic) = (unique("own-offsets"), unique("with-own-topic"));
    let numbers = ("connector.class", "numbers");
    let setup = Standalone::new(cluster.bootstrap())
        .test_worker()
        .set("exactly.once.source.support", "enabled")
        .connector("bare", &[numbers, ("topic", &topic), ON])
        .connector(&unique("own"), &[numbers, ("topic", &topic), ("limit", "1"), ON, ("offsets.storage.topic", &own)]);
    let mut worker = setup.start();
    let refusal = refusal(&mut worker, "bare");
    for text in
        ["only an offset file", "`offset.storage.topic` in the worker's", "`offsets.storage.topic` in the connector's"]
    {
        assert!(refusal.contains(text), "`{text}` is not in\n{refusal}");
    }
    let log = worker.wait_for_log("worker key `exactly.once.source.support` has no effect", TIMEOUT);
    assert!(log.contains("set it in the connector's configuration"), "{log}");
    assert_eq!(cluster.wait_for_records(&topic, 1, TIMEOUT).len(), 1, "either key does");
    assert_eq!(cluster.topic_property(&own, "cleanup.policy").as_deref(), Some("compact"));
}

#[test]
fn every_connector_says_what_it_guarantees_and_why() {
    let cluster = Cluster::shared();
    let topic = unique("told");
    let to = ("topic", topic.as_str());
    let mut setup = with_topic(&cluster);
    for (name, entries) in [
        ("tested", vec![("connector.class", "numbers"), ("limit", "1"), to, ON]),
        ("plain", vec![("connector.class", "numbers"), ("limit", "1"), to, ("transaction.boundary", "interval")]),
        ("mainframe", vec![("connector.class", "untested"), to, ON, REQUIRED]),
        ("weak", vec![("connector.class", "unrepeatable"), to, ON]),
        ("sink", vec![("connector.class", "FileStreamSink"), ("topics", &*topic), ("file", "out.txt")]),
    ] {
        setup = setup.connector(name, &entries);
    }
    let mut worker = setup.start();
    assert_eq!(cluster.wait_for_records(&topic, 4, TIMEOUT).len(), 4);
    let log = worker.wait_for_log("worker started", TIMEOUT);
    for (name, expected) in [
        ("tested", "exactly-once (records and offsets in one transaction; replay test)"),
        ("plain", "at-least-once (offsets are stored after their records are acknowledged)"),
        ("mainframe", "exactly-once (records and offsets in one transaction; untested: it needs a mainframe)"),
        ("weak", "weaker than asked for: its queue forgets what it has handed out"),
        ("sink", "at-least-once (offsets are committed after"),
    ] {
        let line = log
            .lines()
            .find(|line| line.contains("connector guarantees") && line.contains(&format!("connector={name}")));
        let line = line.unwrap_or_else(|| panic!("nothing is said of `{name}`"));
        assert!(line.contains(expected), "{line}");
    }
    assert!(log.contains("`transaction.boundary` has no effect"), "{log}");
    assert!(log.contains("is promised by `untested` without a replay test: it needs a mainframe"), "{log}");
}
