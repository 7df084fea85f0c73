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
    let moved = stage.counts();
    assert!(moved.len() >= 2 && moved.values().all(|n| *n == usize::try_from(N).unwrap()), "{strategy:?}: {moved:?}");
    assert!(stage.committed().iter().filter(|(_, offset)| **offset == N).count() >= moved.len());
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
