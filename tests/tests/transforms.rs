//! Goal: transformations and predicates change records of sources and of sinks as Kafka Connect's own do. Method: the real
//! worker on the real broker; for a source, Java's worker with the same configuration writes next to it.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Incoming, Outgoing, Standalone, Worker, eventually, unique};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);
/// A JVM needs its time to start.
const JAVA_TIMEOUT: Duration = Duration::from_secs(120);

fn stop(mut worker: Worker) {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

/// Eleven transformations, three of them with a predicate.
const SOURCE_CHAIN: &[(&str, &str)] = &[
    ("transforms", "hoist,origin,key,unwrap,cast,rename,meta,copy,tag,mask,hide,route"),
    ("transforms.hoist.type", "org.apache.kafka.connect.transforms.HoistField$Value"),
    ("transforms.hoist.field", "line"),
    ("transforms.origin.type", "org.apache.kafka.connect.transforms.InsertField$Value"),
    ("transforms.origin.static.field", "number!"),
    ("transforms.origin.static.value", "42"),
    ("transforms.key.type", "ValueToKey"),
    ("transforms.key.fields", "line"),
    ("transforms.unwrap.type", "org.apache.kafka.connect.transforms.ExtractField$Key"),
    ("transforms.unwrap.field", "line"),
    ("transforms.cast.type", "org.apache.kafka.connect.transforms.Cast$Value"),
    ("transforms.cast.spec", "number:int16"),
    ("transforms.rename.type", "org.apache.kafka.connect.transforms.ReplaceField$Value"),
    ("transforms.rename.renames", "line:text"),
    ("transforms.meta.type", "org.apache.kafka.connect.transforms.SetSchemaMetadata$Value"),
    ("transforms.meta.schema.name", "shop.Line"),
    ("transforms.meta.schema.version", "2"),
    ("transforms.copy.type", "org.apache.kafka.connect.transforms.HeaderFrom$Value"),
    ("transforms.copy.fields", "number"),
    ("transforms.copy.headers", "n"),
    ("transforms.copy.operation", "copy"),
    ("transforms.tag.type", "InsertHeader"),
    ("transforms.tag.header", "tags"),
    ("transforms.tag.value.literal", "[1,2,300]"),
    // Applied: the header is there.
    ("transforms.mask.type", "org.apache.kafka.connect.transforms.MaskField$Value"),
    ("transforms.mask.fields", "number"),
    ("transforms.mask.replacement", "7"),
    ("transforms.mask.predicate", "hasTags"),
    // Not applied: the header is there.
    ("transforms.hide.type", "Filter"),
    ("transforms.hide.predicate", "hasTags"),
    ("transforms.hide.negate", "true"),
    ("transforms.route.type", "RegexRouter"),
    ("transforms.route.regex", "(.*)-raw"),
    ("transforms.route.replacement", "$1-routed"),
    ("transforms.route.predicate", "isRaw"),
    ("predicates", "hasTags,isRaw"),
    ("predicates.hasTags.type", "HasHeaderKey"),
    ("predicates.hasTags.name", "tags"),
    ("predicates.isRaw.type", "org.apache.kafka.connect.transforms.predicates.TopicNameMatches"),
    ("predicates.isRaw.pattern", ".*-raw"),
];

/// A worker that sends the lines of a file through the chain to `<topic>-routed`.
fn source(cluster: &Cluster, topic: &str) -> Standalone {
    let setup = Standalone::new(cluster.bootstrap());
    setup.write("in.txt", "first\n\nünï \u{1F980}\n");
    let (file, raw) = (setup.path("in.txt"), format!("{topic}-raw"));
    let mut all = vec![
        ("connector.class", "FileStreamSource"),
        ("file", file.as_str()),
        ("topic", raw.as_str()),
        ("value.converter", "org.apache.kafka.connect.json.JsonConverter"),
    ];
    all.extend(SOURCE_CHAIN);
    setup.connector(&unique("source"), &all)
}

#[test]
fn a_source_writes_the_bytes_that_kafka_connect_writes() {
    let cluster = Cluster::shared();
    let (ours, javas) = (unique("ours"), unique("javas"));
    let (setup, java_setup) = (source(&cluster, &ours), source(&cluster, &javas));
    let java = java_setup.start_java();
    let worker = setup.start();
    let of = |topic: &str, timeout| cluster.wait_for_records(&format!("{topic}-routed"), 3, timeout);
    let got = of(&ours, TIMEOUT);
    let expected = of(&javas, JAVA_TIMEOUT);
    let content = |record: &Incoming| (record.key.clone(), record.value.clone(), record.headers.clone());
    assert_eq!(got.iter().map(content).collect::<Vec<_>>(), expected.iter().map(content).collect::<Vec<_>>());
    // And it is what the chain says.
    assert_eq!(got[0].key_text(), "first");
    assert!(got[0].text().ends_with(r#""payload":{"text":"first","number":7}}"#), "{}", got[0].text());
    let headers: Vec<&str> = got[0].headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(headers, ["n", "tags"]);
    stop(worker);
    drop(java);
}

#[test]
fn a_topic_that_a_chain_chose_is_made_by_the_rules_for_topics() {
    let cluster = Cluster::shared();
    let topic = unique("ruled");
    let setup = Standalone::new(cluster.bootstrap());
    setup.write("in.txt", "a line\n");
    let file = setup.path("in.txt");
    let setup = setup.connector(
        &unique("source"),
        &[
            ("connector.class", "FileStreamSource"),
            ("file", &file),
            ("topic", &topic),
            ("transforms", "route"),
            ("transforms.route.type", "org.apache.kafka.connect.transforms.RegexRouter"),
            ("transforms.route.regex", ".*"),
            ("transforms.route.replacement", "$0-routed"),
            ("topic.creation.groups", "routed"),
            ("topic.creation.routed.include", ".*-routed"),
            ("topic.creation.routed.partitions", "3"),
            ("topic.creation.default.partitions", "1"),
            ("topic.creation.default.replication.factor", "1"),
        ],
    );
    let worker = setup.start();
    let routed = format!("{topic}-routed");
    assert_eq!(cluster.wait_for_records(&routed, 1, TIMEOUT)[0].text(), "a line");
    assert_eq!(cluster.partitions(&routed), Some(3), "the rule for the routed name made it, no other one");
    stop(worker);
}

/// A sink that writes one text of each record.
fn sink(cluster: &Cluster, topic: &str, entries: &[(&str, &str)]) -> (Standalone, String) {
    let setup = Standalone::new(cluster.bootstrap());
    let file = setup.path("out.txt");
    let mut all = vec![
        ("connector.class", "FileStreamSink"),
        ("file", file.as_str()),
        ("topics", topic),
        ("value.converter", "org.apache.kafka.connect.json.JsonConverter"),
        ("value.converter.schemas.enable", "false"),
    ];
    all.extend(entries);
    let name = unique("sink");
    (setup.connector(&name, &all), name)
}

#[test]
fn a_sink_gets_what_the_chain_leaves_and_commits_where_it_read() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("nested", 1);
    let (setup, name) = sink(
        &cluster,
        &topic,
        &[
            ("transforms", "tombstones,flat,at,route,show"),
            ("transforms.tombstones.type", "org.apache.kafka.connect.transforms.Filter"),
            ("transforms.tombstones.predicate", "gone"),
            ("transforms.flat.type", "org.apache.kafka.connect.transforms.Flatten$Value"),
            ("transforms.flat.delimiter", "_"),
            ("transforms.at.type", "org.apache.kafka.connect.transforms.TimestampConverter$Value"),
            ("transforms.at.field", "order_at"),
            ("transforms.at.target.type", "string"),
            ("transforms.at.format", "EEE, d MMM yyyy HH:mm:ss.SSSX"),
            ("transforms.route.type", "RegexRouter"),
            ("transforms.route.regex", ".*"),
            ("transforms.route.replacement", "elsewhere"),
            ("transforms.show.type", "org.apache.kafka.connect.transforms.ExtractField$Value"),
            ("transforms.show.field", "order_at"),
            ("predicates", "gone"),
            ("predicates.gone.type", "RecordIsTombstone"),
        ],
    );
    cluster.produce(
        &topic,
        [
            Outgoing::value(r#"{"order":{"at":1500000001234}}"#),
            Outgoing::tombstone("k"),
            Outgoing::value(r#"{"order":{"at":0}}"#),
            Outgoing::tombstone("k"),
        ],
    );
    let worker = setup.start();
    let lines = eventually("two lines", TIMEOUT, || {
        let text = setup.read("out.txt");
        (text.lines().count() == 2).then_some(text)
    });
    assert_eq!(lines, "Fri, 14 Jul 2017 02:40:01.234Z\nThu, 1 Jan 1970 00:00:00.000Z\n");
    stop(worker);
    // Past the tombstone at the end, under the topic that was read.
    assert_eq!(cluster.committed(&format!("connect-{name}"), &topic)[&0], 4);
}

#[test]
fn a_record_that_does_not_fit_fails_the_task_with_alias_class_and_place() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("unfit", 1);
    let class = "org.apache.kafka.connect.transforms.Cast$Value";
    let chain = [("transforms", "toInt"), ("transforms.toInt.type", class), ("transforms.toInt.spec", "int32")];
    let (setup, name) = sink(&cluster, &topic, &chain);
    cluster.produce(&topic, [Outgoing::value("\"17\""), Outgoing::value("\"x\"")]);
    let mut worker = setup.start();
    let log = worker.wait_for_log("task failed", TIMEOUT);
    for part in [&format!("`toInt` ({class})"), &format!("{topic}-0@1"), "Value (x) was out of range"] {
        assert!(log.contains(part), "the log does not tell `{part}`:\n{log}");
    }
    stop(worker);
    assert_eq!(setup.read("out.txt"), "17\n");
    assert_eq!(cluster.committed(&format!("connect-{name}"), &topic)[&0], 1);
}

#[test]
fn every_mistake_of_a_chain_is_told_before_anything_starts() {
    let cluster = Cluster::shared();
    let (setup, _) = sink(
        &cluster,
        "none",
        &[
            ("transforms", "route,cast,drop,when"),
            ("transforms.route.type", "RegexRouter"),
            ("transforms.route.regex", "(.*)"),
            ("transforms.route.replacement", "$2"),
            ("transforms.cast.type", "Cast$Value"),
            ("transforms.cast.spec", "a:int8"),
            ("transforms.drop.type", "DropHeaders"),
            ("transforms.drop.headers", "a"),
            ("transforms.drop.predicate", "isTombstone"),
            ("transforms.when.type", "TimestampRouter"),
            ("transforms.when.timestamp.format", "yyyy-bb"),
            ("predicates", "isTombStone"),
            ("predicates.isTombStone.type", "RecordIsTombstone"),
            ("predicates.isTombStone.plugin.version", "[0,99)"),
            ("connector.plugin.version", "98"),
            ("value.converter.plugin.version", "(,0)"),
        ],
    );
    let mut worker = setup.start();
    let log = worker.wait_for_log("its configuration has 6 error(s)", TIMEOUT);
    for part in [
        "transforms.route.replacement: No group 2",
        "did you mean `org.apache.kafka.connect.transforms.Cast$Value`?",
        "transforms.drop.predicate: `predicates` does not name such a predicate; did you mean `isTombStone`?",
        "FileStreamSinkConnector not found that matches the version range [98,98]",
        "JsonConverter not found that matches the version range (,0)",
        "transforms.when.timestamp.format: Illegal pattern character 'b' at index 5",
    ] {
        assert!(log.contains(part), "the log does not tell `{part}`:\n{log}");
    }
    assert_eq!(worker.wait_for_code(TIMEOUT), 3);
}
