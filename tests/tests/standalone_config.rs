//! Goal: a wrong configuration is told whole and clearly, and ends only what it concerns; Java's files run unchanged.
//! Method: the real worker on the real broker, on good and bad files.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Standalone, unique};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);
const STRING: &str = "org.apache.kafka.connect.storage.StringConverter";

#[test]
fn every_error_of_the_workers_file_is_told_and_nothing_is_started() {
    let cluster = Cluster::shared();
    let setup = Standalone::new(cluster.bootstrap())
        .set("offset.flush.interval.ms", "soon")
        .set("topic.creation.enable", "maybe")
        .set("value.converter", "org.apache.kafka.connect.json.JsonConvertor")
        .set("task.shutdown.gracefull.timeout.ms", "5")
        .connector("c", &[("connector.class", "FileStreamSource"), ("topic", "t")]);
    let mut worker = setup.start();
    assert_eq!(worker.wait_for_code(TIMEOUT), 1);
    let log = worker.log();
    for expected in
        ["offset.flush.interval.ms", "soon", "topic.creation.enable", "maybe", "JsonConvertor", "JsonConverter"]
    {
        assert!(log.contains(expected), "`{expected}` is not in the log");
    }
    assert!(log.contains("task.shutdown.graceful.timeout.ms"), "an unknown key is told with its near match");
}

#[test]
fn a_missing_required_key_and_a_missing_file_end_the_worker_with_1() {
    let cluster = Cluster::shared();
    // Kept: with it goes the folder that holds the log.
    let setup = Standalone::new(cluster.bootstrap()).unset("offset.storage.file.filename");
    let mut worker = setup.start();
    assert_eq!(worker.wait_for_code(TIMEOUT), 1);
    assert!(worker.log().contains("offset.storage.file.filename"));
    let setup = Standalone::new(cluster.bootstrap());
    let log = setup.dir().join("log");
    let mut worker = connect_tests::Worker::spawn(setup.dir(), &log, &["standalone", "nowhere.properties"]);
    assert_eq!(worker.wait_for_code(TIMEOUT), 1);
    assert!(worker.log().contains("nowhere.properties"));
}

#[test]
fn a_bad_connector_is_failed_alone_and_all_its_errors_are_told() {
    let cluster = Cluster::shared();
    let topic = unique("good");
    let setup = Standalone::new(cluster.bootstrap());
    setup.write("in.txt", "hello\n");
    let file = setup.path("in.txt");
    let setup = setup
        .connector("good", &[("connector.class", "FileStreamSource"), ("file", &file), ("topic", &topic)])
        .connector(
            "bad",
            &[
                ("connector.class", "FileStreamSource"),
                ("tasks.max", "none"),
                ("batch.size", "x"),
                ("key.converter", "Jsn"),
            ],
        )
        .connector("stranger", &[("connector.class", "FileStremSource")])
        .connector_file("broken.json", "{\"name\":");
    let mut worker = setup.start();
    assert_eq!(cluster.wait_for_records(&topic, 1, TIMEOUT)[0].text(), "hello");
    let log = worker.wait_for_log("broken.json", TIMEOUT);
    for expected in ["tasks.max", "batch.size", "topic", "`Jsn`", "FileStremSource", "did you mean `FileStreamSource`?"]
    {
        assert!(log.contains(expected), "`{expected}` is not in the log");
    }
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

#[test]
fn what_a_connector_may_not_override_or_overrides_wrongly_keeps_it_from_starting() {
    let cluster = Cluster::shared();
    let topic = unique("allowed");
    let policy = ("connector.client.config.override.policy", "Allowlist");
    let setup = Standalone::new(cluster.bootstrap())
        .set(policy.0, policy.1)
        .set("connector.client.config.override.allowlist", "linger.ms,batch.size");
    setup.write("in.txt", "hello\n");
    let file = setup.path("in.txt");
    let source = [("connector.class", "FileStreamSource"), ("file", file.as_str()), ("topic", topic.as_str())];
    let with = |more: &[(&'static str, &'static str)]| [&source[..], more].concat();
    let setup = setup
        .connector("good", &with(&[("producer.override.linger.ms", "1")]))
        .connector("forbidden", &with(&[("producer.override.acks", "1"), ("consumer.override.fetch.min.bytes", "1")]))
        .connector("wrong", &with(&[("producer.override.linger.ms", "soon"), ("producer.override.batch.size", "big")]));
    let mut worker = setup.start();
    assert_eq!(cluster.wait_for_records(&topic, 1, TIMEOUT)[0].text(), "hello");
    for (connector, expected) in [
        ("forbidden", &["'acks' to be overridden", "'fetch.min.bytes' to be overridden", "2 error(s)"][..]),
        ("wrong", &["producer.override.linger.ms", "producer.override.batch.size", "2 error(s)"]),
    ] {
        let failed = format!("connector failed; it stays FAILED until it is restarted connector={connector}");
        let log = worker.wait_for_log(&failed, TIMEOUT);
        let told: String = log.lines().skip_while(|line| !line.contains(&failed)).take(4).collect();
        expected.iter().for_each(|text| assert!(told.contains(text), "`{text}` is not in {told}"));
    }
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
    assert_eq!(cluster.wait_for_records(&topic, 1, TIMEOUT).len(), 1);
}

#[test]
fn the_worker_ends_with_3_if_no_connector_could_be_started() {
    let cluster = Cluster::shared();
    let setup = Standalone::new(cluster.bootstrap()).connector("bad", &[("connector.class", "Nothing")]);
    let mut worker = setup.start();
    assert_eq!(worker.wait_for_code(TIMEOUT), 3);
}

#[test]
fn a_secret_is_in_no_log_line() {
    let cluster = Cluster::shared();
    let secret = "hunter2-hunter2";
    let jaas = format!(
        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"{secret}\";"
    );
    let setup = Standalone::new(cluster.bootstrap())
        .set("producer.sasl.jaas.config", &jaas)
        .set("producer.ssl.keystore.password", secret)
        .set("ssl.key.password", secret)
        .set("offset.flush.interval.ms", "x");
    let mut worker = setup.start();
    assert_eq!(worker.wait_for_code(TIMEOUT), 1);
    assert!(!worker.log().contains(secret));
}

#[test]
fn javas_sample_files_run_together_and_give_the_same_json() {
    let cluster = Cluster::shared();
    let topic = unique("connect-test");
    let json = "org.apache.kafka.connect.json.JsonConverter";
    let setup = Standalone::new(cluster.bootstrap())
        .set("key.converter", json)
        .set("value.converter", json)
        .set("key.converter.schemas.enable", "true")
        .set("value.converter.schemas.enable", "true")
        .set("plugin.path", "/usr/local/share/java,/usr/local/share/kafka/plugins")
        .set("offset.flush.interval.ms", "10000");
    setup.write("test.txt", "foo\nbar\n");
    let (input, output) = (setup.path("test.txt"), setup.path("test.sink.txt"));
    let setup = setup
        .connector(
            &unique("local-file-source"),
            &[("connector.class", "FileStreamSource"), ("tasks.max", "1"), ("file", &input), ("topic", &topic)],
        )
        .connector(
            &unique("local-file-sink"),
            &[("connector.class", "FileStreamSink"), ("tasks.max", "1"), ("file", &output), ("topics", &topic)],
        );
    let mut worker = setup.start();
    let records = cluster.wait_for_records(&topic, 2, TIMEOUT);
    assert_eq!(records[0].text(), r#"{"schema":{"type":"string","optional":false},"payload":"foo"}"#);
    assert_eq!(records[0].key, None);
    connect_tests::eventually_true("the sink has both lines", TIMEOUT, || setup.read("test.sink.txt") == "foo\nbar\n");
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

#[test]
fn an_offset_file_of_javas_worker_is_taken_over_and_kept() {
    let cluster = Cluster::shared();
    let topic = unique("java-offsets");
    let setup = Standalone::new(cluster.bootstrap());
    setup.write("in.txt", "one\ntwo\n");
    let file = setup.path("in.txt");
    let setup = setup
        .connector(&unique("source"), &[("connector.class", "FileStreamSource"), ("file", &file), ("topic", &topic)]);
    let mut java = setup.start_java();
    cluster.wait_for_records(&topic, 2, TIMEOUT);
    java.terminate();
    java.wait_for_exit(TIMEOUT);
    let magic = [0xAC, 0xED];
    assert!(std::fs::read(setup.path("offsets")).unwrap().starts_with(&magic), "Java has written its offsets");
    std::fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .and_then(|mut f| std::io::Write::write_all(&mut f, b"three\n"))
        .unwrap();
    let mut worker = setup.start();
    assert_eq!(cluster.wait_for_records(&topic, 3, TIMEOUT)[2].text(), "three");
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
    assert_eq!(cluster.read_texts(&topic), ["one", "two", "three"]);
    assert!(std::fs::read(setup.path("offsets.java")).unwrap().starts_with(&magic), "Java's file is kept");
    assert!(setup.read("offsets").starts_with("{\"connect.offsets\":1"));
}

#[test]
fn offsets_in_a_topic_survive_and_have_kafkas_form() {
    let cluster = Cluster::shared();
    let (topic, offsets) = (unique("data"), unique("offsets"));
    let setup = Standalone::new(cluster.bootstrap())
        .unset("offset.storage.file.filename")
        .set("offset.storage.topic", &offsets)
        .set("offset.storage.replication.factor", "1")
        .set("offset.storage.partitions", "5");
    setup.write("in.txt", "one\n");
    let file = setup.path("in.txt");
    let name = unique("source");
    let setup = setup.connector(&name, &[("connector.class", "FileStreamSource"), ("file", &file), ("topic", &topic)]);
    for n in 1..=2 {
        let mut worker = setup.start();
        cluster.wait_for_records(&topic, n, TIMEOUT);
        worker.terminate();
        assert_eq!(worker.wait_for_code(TIMEOUT), 0);
        std::fs::OpenOptions::new()
            .append(true)
            .open(&file)
            .and_then(|mut f| std::io::Write::write_all(&mut f, b"next\n"))
            .unwrap();
    }
    assert_eq!(cluster.read_texts(&topic), ["one", "next"]);
    assert_eq!(cluster.topic_property(&offsets, "cleanup.policy").as_deref(), Some("compact"));
    assert_eq!(cluster.partitions(&offsets), Some(5));
    let stored = cluster.read(&offsets, connect_tests::Isolation::ReadCommitted);
    assert_eq!(stored[0].key_text(), format!(r#"["{name}",{{"filename":"{file}"}}]"#));
    assert_eq!(stored[0].text(), r#"{"position":4}"#);
}

#[test]
fn json_files_and_both_forms_of_class_names_are_taken() {
    let cluster = Cluster::shared();
    let topic = unique("json");
    let setup = Standalone::new(cluster.bootstrap());
    setup.write("in.txt", "hello\n");
    let (input, output) = (setup.path("in.txt"), setup.path("out.txt"));
    let source = format!(
        r#"{{"name":"{}","config":{{"connector.class":"org.apache.kafka.connect.file.FileStreamSourceConnector","file":"{input}","topic":"{topic}","key.converter":"{STRING}"}}}}"#,
        unique("s")
    );
    let sink = format!(
        r#"{{"name":"{}","connector.class":"FileStreamSinkConnector","file":"{output}","topics":"{topic}","tasks.max":1}}"#,
        unique("k")
    );
    let setup = setup.connector_file("source.json", &source).connector_file("sink.json", &sink);
    let mut worker = setup.start();
    connect_tests::eventually_true("the line came through", TIMEOUT, || setup.read("out.txt") == "hello\n");
    worker.interrupt();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}
