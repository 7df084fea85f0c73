//! Goal: what the worker asks brokers by Kafka's protocol itself is answered rightly. Method: the client without a
//! worker, against the shared broker, with librdkafka's clients as the members and producers that are asked about.
#![forbid(unsafe_code)]

use connect_runtime::kafka::{ClientConfig, ClientKind, Cluster as WireCluster};
use connect_tests::{Cluster, eventually, unique};
use rdkafka::{
    consumer::{BaseConsumer, Consumer},
    producer::{BaseProducer, Producer},
};
use std::{collections::BTreeMap, time::Duration};

const PATIENCE: Duration = Duration::from_secs(60);

fn config(cluster: &Cluster, entries: &[(&str, &str)]) -> ClientConfig {
    let builder = ClientConfig::builder(ClientKind::Admin).set("bootstrap.servers", cluster.bootstrap());
    builder.prefixed("x.", entries.iter().copied()).build().expect("the settings are right").0
}

fn wire(cluster: &Cluster) -> WireCluster {
    WireCluster::new(&config(cluster, &[("x.client.id", "wire-test")])).expect("the settings can be used")
}

/// A consumer that has joined its group.
fn member(cluster: &Cluster, group: &str, topic: &str, entries: &[(&str, &str)]) -> BaseConsumer {
    let mut config = cluster.client_config();
    config.set("group.id", group).set("client.id", "member");
    for (key, value) in entries {
        config.set(*key, *value);
    }
    let consumer: BaseConsumer = config.create().expect("the client properties are valid");
    consumer.subscribe(&[topic]).expect("the topic's name is valid");
    eventually("the consumer has its partitions", PATIENCE, || {
        drop(consumer.poll(Duration::from_millis(50)));
        consumer.assignment().ok().filter(|assigned| assigned.count() > 0)
    });
    consumer
}

#[tokio::test]
async fn transactional_ids_are_found_by_their_prefix() {
    let cluster = Cluster::shared();
    let prefix = unique("wire.*ids");
    // In another order than that of their names, and one that only a pattern would mean.
    for id in [format!("{prefix}-2"), format!("{prefix}-1"), prefix.replace(".*", "XX")] {
        let mut config = cluster.client_config();
        let producer: BaseProducer = config.set("transactional.id", id).create().expect("the properties are valid");
        producer.init_transactions(PATIENCE).expect("transactions are initialised");
    }
    let mut wire = wire(&cluster);
    let found = wire.list_transactional_ids(&prefix).await.expect("the broker answers");
    let ids: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(ids, [format!("{prefix}-1"), format!("{prefix}-2")]);
    assert!(found.iter().all(|found| found.state == "Empty"), "{found:?}");
    assert!(wire.list_transactional_ids(&unique("nobody")).await.expect("the broker answers").is_empty());
    let all = wire.list_transactional_ids("").await.expect("the broker answers");
    assert!(all.iter().any(|found| found.id.starts_with("wireXX")));
}

#[tokio::test]
async fn members_of_groups_of_both_protocols_are_described() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("wire", 1);
    let mut wire = wire(&cluster);
    for protocol in ["classic", "consumer"] {
        let group = unique("wire-group");
        assert_eq!(wire.group_members(&group).await.expect("the broker answers"), None, "{protocol}");
        let instance = unique("instance");
        let consumer =
            member(&cluster, &group, &topic, &[("group.protocol", protocol), ("group.instance.id", &instance)]);
        let info = wire.group_members(&group).await.expect("the broker answers").expect("the group is there");
        assert_eq!((info.protocol_type.as_str(), info.state.as_str()), ("consumer", "Stable"));
        let [member] = &info.members[..] else { panic!("one member: {info:?}") };
        assert_eq!((member.instance_id.as_deref(), member.client_id.as_str()), (Some(instance.as_str()), "member"));
        assert_eq!(member.host, "/127.0.0.1");
        assert!(!member.member_id.is_empty());
        assert_eq!(member.assigned, BTreeMap::from([(topic.clone(), vec![0])]), "{protocol}");
        drop(consumer);
    }
}

#[tokio::test]
async fn partitions_are_counted_and_topics_that_are_not_there_are_left_out_and_not_made() {
    let cluster = Cluster::shared();
    let (topic, missing) = (cluster.new_topic("wire", 3), unique("missing"));
    let mut wire = wire(&cluster);
    for _ in 0..2 {
        let counted = wire.partitions(&[topic.clone(), missing.clone()]).await.expect("the broker answers");
        assert_eq!(counted, BTreeMap::from([(topic.clone(), 3)]));
    }
}

#[tokio::test]
async fn static_members_are_sent_away_by_their_instance_id() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("wire", 2);
    let group = unique("wire-group");
    // Longer than the test: the members go because they are sent away.
    let settings = |instance: &'static str| [("group.instance.id", instance), ("session.timeout.ms", "120000")];
    let mut wire = wire(&cluster);
    let gone = wire.leave_group(&group, &["nobody".to_owned()]).await.expect("the broker answers");
    assert_eq!(gone, BTreeMap::from([("nobody".to_owned(), Ok(()))]), "in a group that does not exist");
    let one = member(&cluster, &group, &topic, &settings("one"));
    // A static member that ends does not leave.
    drop(one);
    let instances = async |wire: &mut WireCluster| {
        let info = wire.group_members(&group).await.expect("the broker answers");
        info.into_iter().flat_map(|info| info.members).filter_map(|member| member.instance_id).collect::<Vec<_>>()
    };
    assert_eq!(instances(&mut wire).await, ["one"]);
    let left = wire.leave_group(&group, &["one".to_owned(), "other".to_owned()]).await.expect("the broker answers");
    assert_eq!(left, BTreeMap::from([("one".to_owned(), Ok(())), ("other".to_owned(), Ok(()))]));
    assert!(instances(&mut wire).await.is_empty());
    assert!(wire.leave_group(&group, &[]).await.expect("nothing is asked").is_empty());
}

#[tokio::test]
async fn a_broker_that_was_restarted_is_connected_to_again() {
    let mut broker = connect_tests::broker::start(connect_tests::broker::Options::new());
    let cluster = Cluster::at(broker.bootstrap());
    let mut wire = wire(&cluster);
    assert_eq!(wire.group_members("any").await.expect("the broker answers"), None);
    broker.restart().expect("the broker comes back");
    assert_eq!(wire.group_members("any").await.expect("the broker answers again"), None);
}

#[tokio::test]
async fn a_broker_that_is_frozen_is_an_error_in_time() {
    let broker = connect_tests::broker::start(connect_tests::broker::Options::new());
    let cluster = Cluster::at(broker.bootstrap());
    let config = config(&cluster, &[("x.request.timeout.ms", "500"), ("x.socket.connection.setup.timeout.ms", "1000")]);
    let mut wire = WireCluster::new(&config).expect("the settings can be used");
    assert!(wire.list_transactional_ids("").await.expect("the broker answers").is_empty());
    broker.freeze().expect("the broker is frozen");
    let late = tokio::time::timeout(Duration::from_secs(5), wire.list_transactional_ids("")).await;
    assert!(late.is_err(), "it is asked again for as long as the caller waits");
    broker.thaw().expect("the broker goes on");
    assert!(wire.list_transactional_ids("").await.expect("the broker answers again").is_empty());
}
