//! Goal: `connect validate` says what Kafka's own worker says of the same configuration. Method: both are asked about the
//! same connectors, and the answers are compared key by key; what only this worker has is left out.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, JavaDistributed, Worker};
use serde_json::Value;
use std::{collections::BTreeMap, fs, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(60);
const SOURCE: &str = "org.apache.kafka.connect.file.FileStreamSourceConnector";
const SINK: &str = "org.apache.kafka.connect.file.FileStreamSinkConnector";
const TRANSFORMS: &str = "org.apache.kafka.connect.transforms";
const JSON: &str = "org.apache.kafka.connect.json.JsonConverter";
const STRING: &str = "org.apache.kafka.connect.storage.StringConverter";

/// Keys that Kafka's worker does not have, and the groups that only they are in.
const OURS: [&str; 18] = [
    "batch.max.records",
    "batch.max.bytes",
    "inflight.max.records",
    "inflight.max.bytes",
    "partitions.refresh.interval.ms",
    "exactly.once.source.support",
    "transaction.boundary.max.bytes",
    "transaction.boundary.max.records",
    "put.retry.timeout.ms",
    // Of the file connectors.
    "files",
    "line.max.bytes",
    "directory",
    "file.max.records",
    "file.max.age.ms",
    // Of sources, which have no such queue in Kafka.
    "errors.deadletterqueue.topic.name",
    "errors.deadletterqueue.topic.replication.factor",
    "errors.deadletterqueue.context.headers.enable",
    "Limits",
];

/// Keys of `definition` and `value` whose texts are not Kafka's: documentation is written anew.
const TEXTS: [&str; 1] = ["documentation"];

fn cases() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let of = |entries: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
        entries.iter().map(|(key, value)| (*key, value.replace("%T", TRANSFORMS))).collect()
    };
    let source = |entries: &[(&'static str, &str)]| {
        of(&[&[("name", "a"), ("connector.class", SOURCE), ("topic", "t")], entries].concat())
    };
    let sink = |entries: &[(&'static str, &str)]| of(&[&[("name", "a"), ("connector.class", SINK)], entries].concat());
    vec![
        ("a good source", source(&[("file", "in.txt")])),
        ("a source without its topic", of(&[("name", "a"), ("connector.class", SOURCE)])),
        ("no tasks", source(&[("tasks.max", "0")])),
        (
            "wrong values of the framework's keys",
            source(&[
                ("name", ""),
                ("tasks.max", "x"),
                ("errors.tolerance", "some"),
                ("errors.retry.timeout", "z"),
                ("errors.log.enable", "maybe"),
                ("header.converter", "Nope"),
                ("transaction.boundary", "foo"),
                ("exactly.once.support", "bar"),
                ("config.action.reload", "xx"),
                ("transaction.boundary.interval.ms", "0"),
                ("offsets.storage.topic", " "),
            ]),
        ),
        (
            "transformations and a predicate",
            source(&[
                ("transforms", "h,i,r"),
                ("transforms.h.type", "%T.HoistField$Value"),
                ("transforms.h.field", "line"),
                ("transforms.i.type", "%T.InsertField$Value"),
                ("transforms.i.static.field", "s"),
                ("transforms.i.static.value", "v"),
                ("transforms.i.predicate", "p"),
                ("transforms.i.negate", "true"),
                ("transforms.r.type", "RegexRouter"),
                ("transforms.r.regex", "a"),
                ("transforms.r.replacement", "b"),
                ("predicates", "p"),
                ("predicates.p.type", "%T.predicates.TopicNameMatches"),
                ("predicates.p.pattern", "a.*"),
            ]),
        ),
        (
            "wrong transformations and predicates",
            source(&[
                ("transforms", "h,i,r,c,none"),
                ("transforms.h.type", "%T.HoistField$Value"),
                ("transforms.i.type", "Nope"),
                ("transforms.r.type", "%T.RegexRouter"),
                ("transforms.r.regex", "("),
                ("transforms.c.type", "%T.Cast$Value"),
                ("transforms.c.spec", "a:foo"),
                ("predicates", "p,q"),
                ("predicates.p.type", "%T.predicates.TopicNameMatches"),
                ("predicates.p.pattern", "a("),
            ]),
        ),
        (
            "an alias twice",
            source(&[("transforms", "h,h"), ("transforms.h.type", "%T.HoistField$Key"), ("transforms.h.field", "x")]),
        ),
        (
            "converters of its own",
            source(&[
                ("key.converter", JSON),
                ("key.converter.schemas.enable", "x"),
                ("value.converter", STRING),
                ("value.converter.converter.encoding", "UTF-8"),
            ]),
        ),
        ("classes that are no converters", source(&[("key.converter", "Nope"), ("value.converter", SOURCE)])),
        (
            "topics to be created",
            source(&[("topic.creation.default.partitions", "1"), ("topic.creation.default.replication.factor", "1")]),
        ),
        ("a good sink", sink(&[("topics", "t"), ("file", "out.txt")])),
        ("a sink without topics", sink(&[])),
        ("a sink with two kinds of topics", sink(&[("topics", "t"), ("topics.regex", "a.*")])),
        ("a sink with a wrong pattern", sink(&[("topics.regex", "(")])),
        (
            "a sink that reads its own dead letters",
            sink(&[
                ("topics", "t,d"),
                ("errors.deadletterqueue.topic.name", "d"),
                ("errors.deadletterqueue.topic.replication.factor", "x"),
            ]),
        ),
    ]
}

/// The keys in their order, with what is said of each.
fn by_key(infos: &Value, is_sink: bool) -> Vec<(String, Value)> {
    let configs = infos["configs"].as_array().expect("a list").iter().map(|config| {
        let mut config = config.clone();
        for part in ["definition", "value"] {
            if let Some(part) = config[part].as_object_mut() {
                TEXTS.iter().for_each(|key| drop(part.remove(*key)));
            }
        }
        let name = [&config["definition"]["name"], &config["value"]["name"]].into_iter().find_map(Value::as_str);
        (name.expect("it has a name").to_owned(), config)
    });
    configs.filter(|(key, _)| is_compared(key, is_sink)).collect()
}

fn is_compared(key: &str, is_sink: bool) -> bool {
    !OURS.contains(&key) || is_sink && key.starts_with("errors.deadletterqueue.")
}

fn groups(infos: &Value) -> Vec<&str> {
    let groups = infos["groups"].as_array().expect("a list").iter();
    groups.filter_map(Value::as_str).filter(|group| !OURS.contains(group)).collect()
}

/// What `connect validate` says.
fn ours(dir: &std::path::Path, worker: &str, config: &BTreeMap<String, String>) -> Value {
    let file = dir.join("connector.json");
    fs::write(&file, serde_json::json!(config).to_string()).expect("an own folder can be written to");
    let log = dir.join("answer.json");
    let file = file.display().to_string();
    let mut validate = Worker::spawn(dir, &log, &["validate", "--format", "json", "--worker", worker, &file]);
    let code = validate.wait_for_code(TIMEOUT);
    let text = validate.log();
    let json = text.find("\n{").map_or(text.as_str(), |at| &text[at + 1..]);
    let infos: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(code, i32::from(infos["error_count"] != 0), "{text}");
    infos
}

#[test]
fn the_answers_are_kafkas() {
    let cluster = Cluster::shared();
    let mut java = JavaDistributed::start(cluster.bootstrap(), &[]);
    let dir = java.dir().to_owned();
    let settings = [
        ("bootstrap.servers", cluster.bootstrap()),
        ("key.converter", STRING),
        ("value.converter", STRING),
        ("offset.storage.topic", "offsets"),
    ];
    let text: String = settings.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    fs::write(dir.join("ours.properties"), text).expect("an own folder can be written to");
    let mut different = Vec::new();
    for (what, entries) in cases() {
        let config: BTreeMap<String, String> =
            entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let is_sink = config["connector.class"] == SINK;
        let (theirs, ours) = (java.validate(&config), ours(&dir, "ours.properties", &config));
        if theirs["error_count"] != ours["error_count"] {
            different.push(format!("{what}: {} errors, here {}", theirs["error_count"], ours["error_count"]));
        }
        if groups(&theirs) != groups(&ours) {
            different.push(format!("{what}: groups {:?}, here {:?}", groups(&theirs), groups(&ours)));
        }
        let (theirs, ours) = (by_key(&theirs, is_sink), by_key(&ours, is_sink));
        let names = |of: &[(String, Value)]| of.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        if names(&theirs) != names(&ours) {
            different.push(format!("{what}: keys\n  {:?}\n  {:?}", names(&theirs), names(&ours)));
        }
        for (key, theirs) in &theirs {
            if let Some((_, ours)) = ours.iter().find(|(other, _)| other == key)
                && theirs != ours
            {
                different.push(format!("{what}: `{key}`\n  {theirs}\n  {ours}"));
            }
        }
    }
    assert!(different.is_empty(), "{} differences:\n{}", different.len(), different.join("\n"));
}

#[test]
fn a_person_is_told_every_error_and_what_was_most_likely_meant() {
    let dir = tempfile::TempDir::new().expect("a temporary folder can be created");
    let text = "name=a\nconnector.class=FileStreamSource\nfiel=in.txt\ntransforms=i,r\n\
                transforms.i.type=InsertField$Value\ntransforms.r.type=RegexRouter\ntransforms.r.regx=a\n\
                key.converter.schemas.enable=false\nproducer.override.linger.ms=soon\n";
    fs::write(dir.path().join("a.properties"), text).expect("an own folder can be written to");
    let good = "name=b\nconnector.class=FileStreamSource\ntopic=t\n";
    fs::write(dir.path().join("b.properties"), good).expect("an own folder can be written to");
    let arguments = ["validate", "a.properties", "b.properties", "c.properties"];
    let mut validate = Worker::spawn(dir.path(), &dir.path().join("log"), &arguments);
    assert_eq!(validate.wait_for_code(TIMEOUT), 1);
    let said = validate.log();
    for expected in [
        "a.properties: 5 error(s)",
        "`topic`: Missing required configuration",
        "`transforms.i.type`: Invalid value InsertField$Value",
        "did you mean `org.apache.kafka.connect.transforms.InsertField$Value`?",
        "`transforms.r.regex`: Missing required configuration",
        "`transforms.r.replacement`: Missing required configuration",
        "`producer.override.linger.ms`: ",
        "warning: `key.converter.schemas.enable` has no effect",
        "warning: unknown connector key `fiel`; did you mean `file`?",
        "b.properties: ok",
        "c.properties: 1 error(s)",
    ] {
        assert!(said.contains(expected), "`{expected}` is not in\n{said}");
    }
}
