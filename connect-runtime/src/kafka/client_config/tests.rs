//! Tests of the translation: what is written, what librdkafka gets, what is complained about.

use std::fs;

use super::*;

const BROKER: (&str, &str) = ("bootstrap.servers", "localhost:9092");

fn build(
    kind: ClientKind,
    defaults: ClientDefaults,
    entries: &[(&str, &str)],
) -> Result<(ClientConfig, Vec<String>), Vec<String>> {
    ClientConfig::builder(kind)
        .defaults(defaults)
        .set(BROKER.0, BROKER.1)
        .prefixed("x.", entries.iter().copied())
        .build()
        .map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

fn native(kind: ClientKind, entries: &[(&str, &str)], key: &str) -> Option<String> {
    build(kind, ClientDefaults::Tuned, entries).unwrap().0.entries.get(key).cloned()
}

#[test]
fn defaults_are_fast_or_javas_and_always_safe() {
    for (defaults, want) in [
        (
            ClientDefaults::Tuned,
            [
                ("enable.idempotence", "true"),
                ("max.in.flight.requests.per.connection", "5"),
                ("batch.size", "1000000"),
                ("reconnect.backoff.max.ms", "500"),
            ],
        ),
        (
            ClientDefaults::Java,
            [
                ("enable.idempotence", "false"),
                ("max.in.flight.requests.per.connection", "1"),
                ("batch.size", "16384"),
                ("reconnect.backoff.max.ms", "1000"),
            ],
        ),
    ] {
        let (config, warnings) = build(ClientKind::Producer, defaults, &[]).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        for (key, value) in want.into_iter().chain([
            ("acks", "all"),
            ("linger.ms", "5"),
            ("message.timeout.ms", "0"),
            ("partitioner", "murmur2_random"),
            ("message.max.bytes", "1048576"),
        ]) {
            assert_eq!(config.native(key), Some(value), "{defaults:?} {key}");
        }
        let (config, _) = build(ClientKind::Consumer, defaults, &[]).unwrap();
        for (key, value) in [
            ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"),
            ("isolation.level", "read_uncommitted"),
            ("check.crcs", "true"),
            ("auto.offset.reset", "earliest"),
            ("partition.assignment.strategy", "cooperative-sticky"),
            ("fetch.queue.backoff.ms", "10"),
        ] {
            assert_eq!(config.native(key), Some(value), "{defaults:?} {key}");
        }
    }
}

#[test]
fn keys_of_java_get_the_names_of_the_library() {
    use ClientKind::{Admin, Consumer, Producer};
    for (kind, entry, key, value) in [
        (Producer, ("x.buffer.memory", "33554432"), "queue.buffering.max.kbytes", "32768"),
        (Producer, ("x.max.request.size", "2097152"), "message.max.bytes", "2097152"),
        (Producer, ("x.delivery.timeout.ms", "2147483647"), "message.timeout.ms", "0"),
        (Producer, ("x.delivery.timeout.ms", "120000"), "message.timeout.ms", "120000"),
        (Producer, ("x.metadata.max.age.ms", "5000"), "topic.metadata.refresh.interval.ms", "5000"),
        (Producer, ("x.batch.size", "0"), "batch.size", "1"),
        (Producer, ("x.request.timeout.ms", "15000"), "request.timeout.ms", "15000"),
        (Admin, ("x.request.timeout.ms", "15000"), "socket.timeout.ms", "15000"),
        (Consumer, ("x.fetch.max.wait.ms", "100"), "fetch.wait.max.ms", "100"),
        (Consumer, ("x.auto.offset.reset", "none"), "auto.offset.reset", "error"),
        (Consumer, ("x.fetch.max.bytes", "200000000"), "receive.message.max.bytes", "200000512"),
        (Consumer, ("x.fetch.max.bytes", "500000"), "message.max.bytes", "500000"),
        (Consumer, ("x.connections.max.idle.ms", "-1"), "connections.max.idle.ms", "0"),
        (Consumer, ("x.send.buffer.bytes", "-1"), "socket.send.buffer.bytes", "0"),
        (Consumer, ("x.fetch.queue.backoff.ms", "77"), "fetch.queue.backoff.ms", "77"),
        (
            Consumer,
            (
                "x.partition.assignment.strategy",
                "org.apache.kafka.clients.consumer.RangeAssignor, org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
            ),
            "partition.assignment.strategy",
            "cooperative-sticky",
        ),
        (
            Consumer,
            ("x.partition.assignment.strategy", "org.apache.kafka.clients.consumer.RoundRobinAssignor,RangeAssignor"),
            "partition.assignment.strategy",
            "roundrobin,range",
        ),
    ] {
        assert_eq!(native(kind, &[entry], key).as_deref(), Some(value), "{entry:?}");
    }
    assert_eq!(native(Consumer, &[("x.group.protocol", "CONSUMER")], "partition.assignment.strategy"), None);
    let (config, _) = build(Consumer, ClientDefaults::Tuned, &[("x.max.poll.records", "7")]).unwrap();
    assert_eq!(config.max_poll_records(), 7);
}

#[test]
fn the_connectors_layer_is_above_the_workers() {
    let worker = [("producer.linger.ms", "1"), ("producer.batch.size", "100"), ("linger.ms", "9"), ("rest.port", "1")];
    let connector = [("producer.override.linger.ms", "2"), ("consumer.override.fetch.min.bytes", "3")];
    let (config, warnings) = ClientConfig::builder(ClientKind::Producer)
        .set("bootstrap.servers", "a:1, b:2")
        .set("client.id", "base")
        .prefixed("producer.", worker)
        .prefixed("producer.override.", connector)
        .build()
        .unwrap();
    assert_eq!(config.native("linger.ms"), Some("2"));
    assert_eq!(config.native("batch.size"), Some("100"));
    assert_eq!(config.bootstrap_servers(), "a:1,b:2");
    assert_eq!(config.client_id(), "base");
    assert!(warnings.is_empty(), "{warnings:?}");

    let worker = [BROKER, ("group.id", "workers"), ("key.converter", "x"), ("retry.backoff.ms", "0")];
    let (config, warnings) = ClientConfig::builder(ClientKind::Consumer).originals(worker).build().unwrap();
    assert_eq!(config.native("retry.backoff.ms"), Some("1"));
    assert_eq!(config.native("group.id"), None);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn idempotence_gives_way_where_java_lets_it() {
    for (entries, idempotent) in [
        (&[("x.acks", "1")][..], "false"),
        (&[("x.retries", "0")], "false"),
        (&[("x.max.in.flight.requests.per.connection", "6")], "false"),
        (&[("x.max.in.flight.requests.per.connection", "3")], "true"),
        (&[("x.enable.idempotence", "false")], "false"),
    ] {
        assert_eq!(native(ClientKind::Producer, entries, "enable.idempotence").as_deref(), Some(idempotent));
    }
    let errors =
        build(ClientKind::Producer, ClientDefaults::Java, &[("x.acks", "1"), ("x.enable.idempotence", "true")]);
    assert_eq!(errors.unwrap_err(), ["value of `x.acks` is `1`; it must be `all` with `enable.idempotence=true`"]);
}

#[test]
fn unknown_keys_are_warnings_with_a_near_match() {
    let (_, warnings) = build(
        ClientKind::Producer,
        ClientDefaults::Tuned,
        &[
            ("x.linger.mz", "5"),
            ("x.fetch.min.bytes", "1"),
            ("x.key.serializer", "a.B"),
            ("x.interceptor.classes", "a.B"),
            ("x.dr_msg_cb", "1"),
            ("x.socket.keepalive.enable", "true"),
        ],
    )
    .unwrap();
    let warnings = warnings.join("\n");
    for want in [
        "`x.linger.mz` is not known to a Kafka producer and has no effect; did you mean `x.linger.ms`?",
        "`x.interceptor.classes` has no effect: it is for a Java client",
        "`x.dr_msg_cb` has no effect: the worker sets it itself",
    ] {
        assert!(warnings.contains(want), "{want}\n{warnings}");
    }
    assert!(!warnings.contains("key.serializer") && !warnings.contains("keepalive"), "{warnings}");
}

#[test]
fn every_wrong_value_is_told_at_once() {
    let errors = build(
        ClientKind::Consumer,
        ClientDefaults::Tuned,
        &[
            ("x.session.timeout.ms", "soon"),
            ("x.check.crcs", "maybe"),
            ("x.auto.offset.reset", "first"),
            ("x.isolation.level", "all"),
            ("x.partition.assignment.strategy", "a.b.RangeAsignor"),
        ],
    )
    .unwrap_err();
    assert_eq!(errors.len(), 5, "{errors:#?}");
    let errors = errors.join("\n");
    for want in [
        "value of `x.session.timeout.ms` is `soon`; it must be a whole number between 1 and 3600000 (ms)",
        "it must be `true` or `false`",
        "it must be one of `earliest`, `latest`, `none`",
        "it must be one of `read_uncommitted`, `read_committed`",
        "did you mean `RangeAssignor`?",
    ] {
        assert!(errors.contains(want), "{want}\n{errors}");
    }
    let errors = build(ClientKind::Consumer, ClientDefaults::Tuned, &[("x.queued.min.messages", "many")]).unwrap_err();
    assert!(errors[0].contains("value of `x.queued.min.messages` is not usable"), "{errors:?}");
    let errors = ClientConfig::builder(ClientKind::Admin).build().unwrap_err();
    assert!(errors.to_string().contains("`bootstrap.servers` is not set"));
}

const PLAIN: &str =
    "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"hunter2\";";

#[test]
fn sasl_credentials_come_from_the_login_module_and_are_never_shown() {
    let entries = [("x.security.protocol", "SASL_SSL"), ("x.sasl.mechanism", "PLAIN"), ("x.sasl.jaas.config", PLAIN)];
    let (config, _) = build(ClientKind::Producer, ClientDefaults::Tuned, &entries).unwrap();
    assert_eq!(config.entries["sasl.username"], "u");
    assert_eq!(config.entries["sasl.password"], "hunter2");
    assert_eq!(config.native("sasl.password"), None);
    assert!(!format!("{config:?}").contains("hunter2"));

    for (mechanism, jaas, want) in [
        ("SCRAM-SHA-512", PLAIN, "needs a `ScramLoginModule`"),
        ("PLAIN", "a.PlainLoginModule required username=u;", "needs the options `username` and `password`"),
        ("PLAIN", "a.PlainLoginModule required password=hunter2", "is not a login module"),
        ("DIGEST", PLAIN, "it must be one of `GSSAPI`, `PLAIN`"),
        ("OAUTHBEARER", "a.OAuthBearerLoginModule required;", "unsecuredLoginStringClaim_sub"),
    ] {
        let entries =
            [("x.security.protocol", "SASL_SSL"), ("x.sasl.mechanism", mechanism), ("x.sasl.jaas.config", jaas)];
        let errors = build(ClientKind::Producer, ClientDefaults::Tuned, &entries).unwrap_err();
        assert!(errors[0].contains(want) && !errors[0].contains("hunter2"), "{errors:?}");
    }
    let entries = [
        ("x.security.protocol", "SASL_PLAINTEXT"),
        ("x.sasl.mechanism", "OAUTHBEARER"),
        ("x.sasl.oauthbearer.token.endpoint.url", "https://login.example/token"),
    ];
    let errors = build(ClientKind::Admin, ClientDefaults::Tuned, &entries).unwrap_err();
    assert!(errors[0].contains("must be a `file:` URL"), "{errors:?}");
    let entries = [entries[0], entries[1], ("x.sasl.oauthbearer.token.endpoint.url", "file:///run/token")];
    let (config, _) = build(ClientKind::Admin, ClientDefaults::Tuned, &entries).unwrap();
    assert_eq!(config.oauth, Some(OauthSource::File("/run/token".into())));
}

#[test]
fn stores_are_told_apart_by_their_content() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let pem = file("pem", b"-----BEGIN CERTIFICATE-----");
    let jks = file("jks", &[0xfe, 0xed, 0xfe, 0xed, 0, 0]);
    let p12 = file("p12", &[0x30, 0x82, 1, 2]);
    let ssl = |key: &'static str, location: &str| {
        build(ClientKind::Admin, ClientDefaults::Tuned, &[("x.security.protocol", "SSL"), (key, location)])
    };
    let (config, _) = ssl("x.ssl.truststore.location", &pem).unwrap();
    assert_eq!(config.native("ssl.ca.location"), Some(pem.as_str()));
    assert_eq!(config.native("ssl.endpoint.identification.algorithm"), Some("https"));
    let (config, _) = ssl("x.ssl.keystore.location", &p12).unwrap();
    assert_eq!(config.native("ssl.keystore.location"), Some(p12.as_str()));
    let (config, _) = ssl("x.ssl.keystore.location", &pem).unwrap();
    assert_eq!(config.native("ssl.key.location"), Some(pem.as_str()));
    let (config, _) = ssl("x.ssl.endpoint.identification.algorithm", "").unwrap();
    assert_eq!(config.native("ssl.endpoint.identification.algorithm"), Some("none"));
    for (key, location, want) in [
        ("x.ssl.truststore.location", jks.as_str(), "keytool"),
        ("x.ssl.truststore.location", p12.as_str(), "openssl pkcs12"),
        ("x.ssl.keystore.location", jks.as_str(), "-deststoretype PKCS12"),
        ("x.ssl.keystore.location", "/nowhere/x", "cannot be read"),
    ] {
        let errors = ssl(key, location).unwrap_err();
        assert!(errors[0].contains(want) && errors[0].contains(key), "{errors:?}");
    }
}

#[test]
fn what_is_set_against_a_transactional_producer_is_replaced_with_a_warning() {
    let entries = [
        ("x.transactional.id", "mine"),
        ("x.enable.idempotence", "false"),
        ("x.delivery.timeout.ms", "1000"),
        ("x.message.timeout.ms", "1000"),
        ("x.transaction.timeout.ms", "123456"),
        ("x.linger.ms", "7"),
    ];
    let builder = ClientConfig::builder(ClientKind::Producer).set(BROKER.0, BROKER.1).prefixed("x.", entries);
    let (config, warnings) = builder.transactional("group-connector-0").build().unwrap();
    assert_eq!(config.transactional_id(), Some("group-connector-0"));
    assert_eq!(config.transaction_timeout(), Duration::from_millis(123_456));
    for (key, value) in [
        ("enable.idempotence", Some("true")),
        ("transactional.id", Some("group-connector-0")),
        ("transaction.timeout.ms", Some("123456")),
        ("max.in.flight.requests.per.connection", Some("5")),
        ("acks", Some("all")),
        ("linger.ms", Some("7")),
        ("message.timeout.ms", None),
        ("delivery.timeout.ms", None),
    ] {
        assert_eq!(config.native(key), value, "{key}");
    }
    for key in ["transactional.id", "enable.idempotence", "delivery.timeout.ms", "message.timeout.ms"] {
        let named = warnings.iter().filter(|warning| warning.starts_with(&format!("`x.{key}`"))).count();
        assert_eq!(named, 1, "{key}: {warnings:?}");
    }
    assert_eq!(warnings.len(), 4, "{warnings:?}");
}

#[test]
fn a_transactional_producer_of_java_defaults_is_idempotent_and_says_nothing_of_defaults() {
    let entries = [("x.enable.idempotence", "TRUE"), ("x.delivery.timeout.ms", "2147483647")];
    let builder = ClientConfig::builder(ClientKind::Producer).defaults(ClientDefaults::Java).set(BROKER.0, BROKER.1);
    let (config, warnings) = builder.prefixed("x.", entries).transactional("t").build().unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(config.native("enable.idempotence"), Some("true"));
    assert_eq!(config.native("max.in.flight.requests.per.connection"), Some("1"));
    assert_eq!(config.transaction_timeout(), Duration::from_secs(60));
}

#[test]
fn what_a_transactional_producer_cannot_have_is_an_error() {
    let entries = [("x.max.in.flight.requests.per.connection", "6"), ("x.acks", "1"), ("x.retries", "0")];
    let builder = ClientConfig::builder(ClientKind::Producer).set(BROKER.0, BROKER.1).prefixed("x.", entries);
    let errors = builder.transactional("t").build().unwrap_err();
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors.iter().any(|e| e.contains("`x.max.in.flight.requests.per.connection`") && e.contains("at most 5")));
}

#[test]
fn a_fencing_producer_is_made_from_the_settings_of_any_client() {
    let secured = [("x.security.protocol", "SSL"), ("x.request.timeout.ms", "300000")];
    for kind in [ClientKind::Admin, ClientKind::Producer] {
        let (config, _) = build(kind, ClientDefaults::Java, &secured).unwrap();
        let config = config.for_fencing("t");
        assert_eq!(config.native("transactional.id"), Some("t"));
        assert_eq!(config.native("security.protocol"), Some("ssl"));
        let made = crate::kafka::ffi::Client::new(crate::kafka::ffi::Role::Producer, &config.entries);
        assert!(made.is_ok(), "{kind:?}: {:?}", made.err());
    }
}
