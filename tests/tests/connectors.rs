//! Goal: tests can trust the connectors of [`connect_tests::connectors`]. Method: each runs in the test worker on the real
//! broker, with its failing side.
#![forbid(unsafe_code)]

use connect_tests::connectors::{numbers, record_files};
use connect_tests::{Cluster, Outgoing, Standalone, Worker, eventually_true, unique};
use std::{collections::BTreeMap, fs, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(60);

fn stop(mut worker: Worker) {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

fn sinking(cluster: &Cluster, class: &str, entries: &[(&str, &str)]) -> (Standalone, String, String) {
    let (topic, name) = (cluster.new_topic("sunk", 2), unique(class));
    let setup = Standalone::new(cluster.bootstrap()).test_worker();
    let dir = setup.path("out");
    fs::create_dir(&dir).unwrap();
    let mut all = vec![("connector.class", class), ("topics", topic.as_str()), ("dir", dir.as_str())];
    all.extend(entries);
    let setup = setup.connector(&name, &all);
    cluster.produce(&topic, (0..40).map(|i| Outgoing::value(format!("v{i}")).to_partition(i % 2)));
    (setup, topic, format!("connect-{name}"))
}

fn written(setup: &Standalone, topic: &str) -> usize {
    record_files::read(&setup.dir().join("out"), topic).len()
}

#[test]
fn numbers_come_whole_and_in_order_although_polls_fail() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("numbers", 3);
    let setup = Standalone::new(cluster.bootstrap()).test_worker().connector(
        &unique("numbers"),
        &[
            ("connector.class", "numbers"),
            ("topic", &topic),
            ("tasks.max", "2"),
            ("partitions", "5"),
            ("limit", "500"),
            ("record.bytes", "64"),
            ("poll.records", "10"),
            ("group.records", "4"),
            ("fail.every.polls", "5"),
        ],
    );
    let mut worker = setup.start();
    let records = cluster.wait_for_records(&topic, 2500, TIMEOUT);
    assert!(worker.log().contains("an error as configured"), "some polls fail");
    assert!(worker.ended().is_none());
    stop(worker);
    let mut next = BTreeMap::new();
    for record in records {
        let (p, i) = numbers::parse(&record.text()).expect("the value is one of `numbers`");
        assert_eq!(record.text(), numbers::value(p, i, 64));
        assert_eq!(record.key_text(), p.to_string());
        assert_eq!(record.headers[0].0, numbers::LIFE_HEADER);
        let expected = next.entry(p).or_insert(0);
        assert_eq!(i, *expected, "order within partition {p}");
        *expected += 1;
    }
    assert_eq!(next, (0..5).map(|p| (p, 500)).collect());
}

#[test]
fn files_writes_what_it_holds_when_it_is_stopped_and_commits_it() {
    let cluster = Cluster::shared();
    let (setup, topic, group) = sinking(&cluster, "files", &[("flush.records", "1000000")]);
    let mut worker = setup.start();
    worker.wait_for_log("held=40", TIMEOUT);
    assert_eq!(written(&setup, &topic), 0);
    stop(worker);
    assert_eq!(written(&setup, &topic), 40);
    assert_eq!(cluster.committed(&group, &topic), BTreeMap::from([(0, 20), (1, 20)]));
}

#[test]
fn slow_writes_everything() {
    let cluster = Cluster::shared();
    let (setup, topic, group) = sinking(&cluster, "slow", &[("delay.ms", "50")]);
    let worker = setup.start();
    eventually_true("everything is written", TIMEOUT, || written(&setup, &topic) == 40);
    stop(worker);
    assert_eq!(cluster.committed(&group, &topic), BTreeMap::from([(0, 20), (1, 20)]));
}

#[test]
fn keeper_answers_as_it_is_told() {
    let cluster = Cluster::shared();
    let (setup, topic, group) = sinking(&cluster, "keeper", &[("closing", "redeliver")]);
    let mut worker = setup.start();
    worker.wait_for_log("held=40", TIMEOUT);
    stop(worker);
    assert_eq!(written(&setup, &topic), 0);
    assert!(cluster.committed(&group, &topic).values().all(|offset| *offset == 0));

    let (setup, ..) = sinking(&cluster, "keeper", &[("running", "all")]);
    let mut worker = setup.start();
    worker.wait_for_log("task failed", TIMEOUT);
    stop(worker);
}
