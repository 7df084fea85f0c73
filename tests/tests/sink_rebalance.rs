//! Goal: in a rebalance no record is lost, and what a sink has buffered is not thrown away (KIP-275). Method: sinks that
//! keep every record until its partition closes, in two workers that share one consumer group, on the real broker, under
//! each way to assign partitions.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Outgoing, Standalone, Worker, connectors::record_files, eventually_true, unique};
use std::{
    collections::BTreeMap,
    ops::Range,
    time::{Duration, Instant},
};

const TIMEOUT: Duration = Duration::from_secs(60);
const RANGE: (&str, &str) = ("consumer.override.partition.assignment.strategy", "range");
const ROUND_ROBIN: (&str, &str) = ("consumer.override.partition.assignment.strategy", "roundrobin");
const COOPERATIVE: (&str, &str) = ("consumer.override.partition.assignment.strategy", "cooperative-sticky");
const KIP_848: (&str, &str) = ("consumer.override.group.protocol", "consumer");

/// Workers whose connectors differ in their names and share everything else, their group too.
struct Stage {
    cluster: Cluster,
    topic: String,
    group: String,
    class: &'static str,
    partitions: i32,
    out: tempfile::TempDir,
}

struct Member {
    worker: Worker,
    /// Its configuration, which goes when this does.
    _files: Standalone,
}

impl Stage {
    fn new(class: &'static str, partitions: i32) -> Self {
        let cluster = Cluster::shared();
        let topic = cluster.new_topic("rebalance", partitions);
        let out = tempfile::TempDir::new().unwrap();
        Self { cluster, topic, group: unique("group"), class, partitions, out }
    }

    fn start(&self, tasks: &str, entries: &[(&str, &str)]) -> Member {
        let dir = self.out.path().display().to_string();
        let mut all = vec![("connector.class", self.class), ("topics", &self.topic), ("dir", &dir)];
        all.extend([("tasks.max", tasks), ("consumer.override.group.id", &self.group)]);
        all.extend(entries);
        let files = Standalone::new(self.cluster.bootstrap()).test_worker().connector(&unique("member"), &all);
        Member { worker: files.start(), _files: files }
    }

    /// Writes to each partition the records that shall have these offsets.
    fn produce(&self, offsets: Range<i64>) {
        let partitions = 0..self.partitions;
        let to = |partition| offsets.clone().map(move |i| Outgoing::value(format!("v{i}")).to_partition(partition));
        self.cluster.produce(&self.topic, partitions.flat_map(to));
    }

    fn written(&self) -> BTreeMap<(i32, i64), Vec<String>> {
        record_files::read(self.out.path(), &self.topic)
    }

    /// How many lines are in the files of each partition.
    fn counts(&self) -> BTreeMap<i32, usize> {
        self.written().iter().fold(BTreeMap::new(), |mut counts, ((partition, _), values)| {
            *counts.entry(*partition).or_insert(0) += values.len();
            counts
        })
    }

    fn committed(&self) -> BTreeMap<i32, i64> {
        self.cluster.committed(&self.group, &self.topic)
    }

    /// Every record up to `n` in each partition is written, and none twice.
    fn assert_exactly(&self, n: i64) {
        let written = self.written();
        for partition in 0..self.partitions {
            for offset in 0..n {
                let values = written.get(&(partition, offset)).map(Vec::as_slice);
                assert_eq!(values, Some(&[format!("v{offset}")][..]), "partition {partition}, offset {offset}");
            }
        }
        assert_eq!(written.len() as i64, n * i64::from(self.partitions));
        assert_eq!(self.committed(), (0..self.partitions).map(|p| (p, n)).collect());
    }
}

impl Member {
    /// How many records its tasks have received, as they say.
    fn received(&self) -> usize {
        let log = self.worker.log();
        let mut received: BTreeMap<usize, usize> = BTreeMap::new();
        for line in log.lines().filter(|line| line.contains("records held")) {
            if let (Some(task), Some(n)) = (number(line, "task="), number(line, "received=")) {
                received.insert(task, n);
            }
        }
        received.values().sum()
    }

    /// Stops it; says how many records its tasks have received until then.
    fn stop(mut self) -> usize {
        self.worker.terminate();
        assert_eq!(self.worker.wait_for_code(TIMEOUT), 0);
        self.received()
    }
}

fn wait_for(what: &str, condition: impl FnMut() -> bool) {
    eventually_true(what, TIMEOUT, condition);
}

fn number(line: &str, key: &str) -> Option<usize> {
    let rest = &line[line.find(key)? + key.len()..];
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// KIP-275's own scenario, of a task that fails by itself: four tasks have buffered tens of thousands of records each.
#[test]
fn when_one_of_four_tasks_fails_the_others_lose_no_progress() {
    const N: i64 = 20_000;
    let stage = Stage::new("mortal", 4);
    let mut member = stage.start("4", &[COOPERATIVE]);
    wait_for("four tasks have a partition each", || stage.cluster.assigned(&stage.group) == [1, 1, 1, 1]);
    stage.produce(0..N);
    wait_for("four tasks hold everything", || member.received() == 80_000);
    assert!(stage.written().is_empty());
    let revocations = |log: &str| log.matches("partitions revoked").count();
    let before = revocations(&member.worker.log());
    stage.cluster.produce(&stage.topic, [Outgoing::value("poison").to_partition(3)]);
    member.worker.wait_for_log("an end as configured", TIMEOUT);
    // The record that it died of, and nothing else of its partition, comes to one of the others.
    wait_for("another task has the partition", || member.received() == 80_001);
    let log = member.worker.log();
    assert!(revocations(&log) == before && !log.contains("partitions lost"), "the others keep what they have");
    assert_eq!(stage.counts(), BTreeMap::from([(3, 20_000)]), "what the failed task had buffered is written");
    member.stop();
    let mut written = stage.written();
    assert_eq!(written.remove(&(3, N)), Some(vec!["poison".to_owned()]));
    assert!(written.len() == 80_000 && written.values().all(|values| values.len() == 1));
    assert_eq!(stage.committed(), BTreeMap::from([(0, N), (1, N), (2, N), (3, N + 1)]));
}

/// The same when a worker is killed: its tasks' buffers are gone, those of the other worker's tasks are not.
#[test]
fn when_a_worker_is_killed_the_tasks_of_the_other_one_lose_no_progress() {
    const N: i64 = 20_000;
    // How long the group waits for members that were killed and do not come back.
    let session =
        [("consumer.override.session.timeout.ms", "6000"), ("consumer.override.heartbeat.interval.ms", "500")];
    for strategy in [COOPERATIVE, RANGE] {
        let stage = Stage::new("keeper", 4);
        let entries = [session[0], session[1], strategy];
        let survivor = stage.start("2", &entries);
        let mut killed = stage.start("2", &entries);
        wait_for("four tasks have a partition each", || stage.cluster.assigned(&stage.group) == [1, 1, 1, 1]);
        stage.produce(0..N);
        wait_for("four tasks hold everything", || survivor.received() + killed.received() == 80_000);
        let own = survivor.received();
        killed.worker.kill9();
        // Only the partitions of the killed worker are read again.
        wait_for("the survivor has everything", || survivor.received() >= own + 40_000);
        assert_eq!(survivor.received(), own + 40_000, "{strategy:?}");
        assert!(!survivor.worker.log().contains("partitions lost"));
        survivor.stop();
        stage.assert_exactly(N);
    }
}

/// Two workers come and go; nothing is lost, nothing doubled, nobody waits for a session.
fn comes_and_goes(strategy: (&str, &str)) {
    const N: i64 = 2000;
    let stage = Stage::new("keeper", 6);
    stage.produce(0..N);
    let first = stage.start("2", &[strategy]);
    wait_for("everything is held", || first.received() == 12_000);
    assert!(stage.written().is_empty(), "everything is held");

    let second = stage.start("2", &[strategy]);
    // What is revoked was written and committed before the second worker's tasks had it.
    wait_for("the second worker has partitions", || second.worker.log().contains("partitions assigned"));
    assert!(!first.worker.log().contains("partitions lost"));
    wait_for("some partitions have moved, written and committed", || {
        let (written, committed) = (stage.counts(), stage.committed());
        let moved = written.iter().filter(|(partition, n)| **n == 2000 && committed.get(partition) == Some(&N)).count();
        moved >= 2 && moved == written.len()
    });
    stage.produce(N..N + 100);
    wait_for("both go on", || first.received() + second.received() == 12_600);

    let received = first.stop();
    let stopped = Instant::now();
    stage.produce(N + 100..N + 200);
    eventually_true("the second worker has every partition", Duration::from_secs(30), || {
        received + second.received() >= 13_200
    });
    println!("{strategy:?}: everything is the second worker's {:?} after the first one was stopped", stopped.elapsed());
    assert!(!second.worker.log().contains("partitions lost"));
    second.stop();
    stage.assert_exactly(N + 200);
}

#[test]
fn range_takes_everything_and_loses_nothing() {
    comes_and_goes(RANGE);
}

#[test]
fn round_robin_takes_everything_and_loses_nothing() {
    comes_and_goes(ROUND_ROBIN);
}

#[test]
fn cooperative_assignment_moves_what_it_must() {
    comes_and_goes(COOPERATIVE);
}

#[test]
fn brokers_assign_as_consumers_do() {
    comes_and_goes(KIP_848);
}

/// Under KIP-848 a member that comes back after `max.poll.interval.ms` gets a fatal error; the task goes on all the same.
#[test]
fn a_member_that_was_frozen_comes_back_under_every_protocol() {
    let short = ("consumer.override.max.poll.interval.ms", "6000");
    let session = ("consumer.override.session.timeout.ms", "6000");
    for entries in [vec![KIP_848, short], vec![COOPERATIVE, session, short]] {
        let stage = Stage::new("files", 4);
        let entries = [&entries[..], &[("flush.records", "10")]].concat();
        let mut frozen = stage.start("1", &entries);
        stage.produce(0..100);
        wait_for("it works", || stage.written().len() == 400);
        frozen.worker.freeze();
        let other = stage.start("1", &entries);
        let since = Instant::now();
        wait_for("the poll interval is over", || since.elapsed() > Duration::from_secs(9));
        frozen.worker.thaw();
        wait_for("the other one has partitions", || other.worker.log().contains("partitions assigned"));
        stage.produce(100..200);
        wait_for("new records are committed", || stage.committed().values().all(|offset| *offset > 150));
        let log = frozen.worker.log();
        assert!(!log.contains("task failed"), "{entries:?}");
        println!("{:?}: client replaced: {}", entries[0], log.contains("joining the group anew"));
        frozen.stop();
        other.stop();
        let written = stage.written();
        assert!((0..4).all(|p| (0..200).all(|i| written.contains_key(&(p, i)))), "{entries:?}: nothing is lost");
    }
}

#[test]
fn a_transformed_topic_is_committed_under_the_name_it_was_read_from() {
    let stage = Stage::new("files", 2);
    let routed = [
        ("flush.records", "1"),
        ("transforms", "route"),
        ("transforms.route.type", "org.apache.kafka.connect.transforms.RegexRouter"),
        ("transforms.route.regex", ".*"),
        ("transforms.route.replacement", "elsewhere"),
    ];
    stage.produce(0..10);
    let member = stage.start("1", &routed);
    wait_for("everything is there", || stage.cluster.assigned(&stage.group) == [2]);
    wait_for("everything is written", || stage.written().len() == 20);
    member.stop();
    assert_eq!(stage.committed(), BTreeMap::from([(0, 10), (1, 10)]));
    assert_eq!(stage.cluster.partitions("elsewhere"), None);
}
