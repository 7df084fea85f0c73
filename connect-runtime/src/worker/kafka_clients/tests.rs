//! How the clients of a connector are configured.

use super::*;

fn base() -> ClientBase {
    let worker = [
        ("bootstrap.servers", "a:1,b:2"),
        ("producer.transactional.id", "workers"),
        ("producer.linger.ms", "7"),
        ("consumer.isolation.level", "read_uncommitted"),
    ];
    ClientBase {
        worker: properties(&worker),
        bootstrap: "a:1,b:2".to_owned(),
        defaults: ClientDefaults::Tuned,
        worker_id: "connect".to_owned(),
        topic_creation: true,
        group_id: "g".to_owned(),
        static_members: true,
    }
}

fn properties(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

#[test]
fn every_task_has_its_own_transactional_id_whatever_is_set() {
    let base = base();
    let connector = properties(&[
        ("producer.override.transactional.id", "mine"),
        ("producer.override.enable.idempotence", "false"),
        ("producer.override.compression.type", "lz4"),
    ]);
    let config = build(base.transactional("c", base.transactional_id("x-1", 3), &connector)).unwrap();
    assert_eq!(config.transactional_id(), Some("g-x-1-3"));
    assert_eq!(config.native("enable.idempotence"), Some("true"));
    assert_eq!((config.native("linger.ms"), config.native("compression.type")), (Some("7"), Some("lz4")));
    // What is not transactional is not made so by an operator's id.
    let task = ConnectorTaskId { connector: "x".to_owned(), task: 0 };
    assert_eq!(base.producer(&task, &connector).unwrap().transactional_id(), None);
}

#[test]
fn offsets_are_read_as_committed_unless_nothing_depends_on_it() {
    let mut base = base();
    let isolation = |base: &ClientBase, connector: &[(&str, &str)], exactly_once| {
        let log = base.connector_log("x", &properties(connector), exactly_once).unwrap();
        log.consumer.native("isolation.level").map(str::to_owned)
    };
    let loose = [("consumer.override.isolation.level", "read_uncommitted")];
    assert_eq!(isolation(&base, &loose, true).as_deref(), Some("read_committed"));
    assert_eq!(isolation(&base, &[], false).as_deref(), Some("read_uncommitted"), "the worker's operator wants it");
    base.worker.remove("consumer.isolation.level");
    assert_eq!(isolation(&base, &[], false).as_deref(), Some("read_committed"));
    assert_eq!(isolation(&base, &loose, false).as_deref(), Some("read_uncommitted"));
}

#[test]
fn the_workers_cluster_is_known_by_its_servers_in_any_order() {
    let base = base();
    for (servers, expected) in [(None, true), (Some(" b:2 , a:1"), true), (Some("a:1"), false), (Some("c:3"), false)] {
        let own = servers.map(|servers| ("producer.override.bootstrap.servers", servers));
        let log = base.connector_log("x", &properties(own.as_slice()), true).unwrap();
        assert_eq!(base.in_workers_cluster(&log.producer), expected, "{servers:?}");
    }
}

#[test]
fn every_wrong_value_that_a_connector_overrides_is_told_with_its_whole_key() {
    let connector = properties(&[
        ("producer.override.linger.ms", "soon"),
        ("producer.override.acks", "some"),
        ("producer.override.transactional.id", "mine"),
        ("producer.override.no.such.key", "is only odd"),
        ("consumer.override.max.poll.records", "0"),
        ("consumer.override.auto.offset.reset", "earliest"),
        ("admin.override.security.protocol", "PLAIN"),
        ("linger.ms", "of the connector's own"),
    ]);
    let errors = check_overrides(&connector);
    let keys: Vec<&str> = errors.iter().filter_map(|error| error.key()).collect();
    assert_eq!(
        keys,
        [
            "producer.override.acks",
            "producer.override.linger.ms",
            "consumer.override.max.poll.records",
            "admin.override.security.protocol"
        ],
        "{errors}"
    );
    assert!(check_overrides(&properties(&[("producer.override.linger.ms", "5")])).is_empty());
}
