//! Goal: a sink whose target keeps the offsets writes every record exactly once. Method: the file sink with files named
//! after their offsets, in the real worker on the real broker, killed, frozen, and with groups that know less or more.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Outgoing, Standalone, Worker, eventually_true, unique};
use std::{collections::BTreeMap, fs, path::Path, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(60);
const PARTITIONS: i32 = 3;

fn value(i: usize) -> String {
    format!("record {i} {}", "z".repeat(i % 70))
}

fn produce(cluster: &Cluster, topic: &str, numbers: std::ops::Range<usize>) {
    cluster.produce(
        topic,
        numbers.map(|i| Outgoing::value(value(i)).to_partition(i32::try_from(i).unwrap() % PARTITIONS)),
    );
}

fn writing(cluster: &Cluster, topic: &str, name: &str, dir: &Path, entries: &[(&str, &str)]) -> Standalone {
    let dir = dir.display().to_string();
    let mut all =
        vec![("connector.class", "FileStreamSink"), ("topics", topic), ("directory", &dir), ("tasks.max", "2")];
    all.extend([("file.max.records", "700"), ("file.max.age.ms", "100")]);
    all.extend(entries);
    Standalone::new(cluster.bootstrap()).connector(name, &all)
}

/// Every line of every file of the folder, and how often it is there. Checks that the names fit together.
fn lines(dir: &Path) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let entries = fs::read_dir(dir).map(|entries| entries.map(|entry| entry.unwrap().path()).collect());
    let mut files: Vec<_> = entries.unwrap_or_default();
    files.sort();
    for path in files.iter().filter(|path| path.is_file()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let parts: Vec<&str> = name.strip_suffix(".txt").unwrap().rsplitn(3, '+').collect();
        let [end, start, partition] = parts[..] else { panic!("`{name}`") };
        let (start, end): (u64, u64) = (start.parse().unwrap(), end.parse().unwrap());
        assert_eq!(
            ends.insert(partition.to_owned(), end).unwrap_or(0),
            start,
            "`{name}` goes on where the last one ends"
        );
        let text = fs::read_to_string(path).unwrap();
        assert!(text.ends_with('\n'));
        assert_eq!(text.lines().count() as u64, end - start, "`{name}` is whole");
        text.lines().for_each(|line| *found.entry(line.to_owned()).or_insert(0) += 1);
    }
    found
}

fn wait_for_all(dir: &Path, n: usize) {
    eventually_true("every record is in a file", TIMEOUT, || lines(dir).len() == n);
    let found = lines(dir);
    for i in 0..n {
        assert_eq!(found.get(&value(i)), Some(&1), "record {i}");
    }
}

fn stop(mut worker: Worker) {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

#[test]
fn over_kills_every_record_is_in_exactly_one_file() {
    const RECORDS: usize = 30_000;
    const KILLS: usize = 6;
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("once", PARTITIONS);
    let folder = tempfile::TempDir::new().unwrap();
    let setup = writing(&cluster, &topic, &unique("once"), folder.path(), &[]);
    for kill in 0..KILLS {
        produce(&cluster, &topic, kill * RECORDS / KILLS..(kill + 1) * RECORDS / KILLS);
        let before = lines(folder.path()).len();
        let mut worker = setup.start();
        eventually_true("files appear", TIMEOUT, || lines(folder.path()).len() > before);
        worker.kill9();
    }
    let worker = setup.start();
    wait_for_all(folder.path(), RECORDS);
    stop(worker);
    wait_for_all(folder.path(), RECORDS);
}

#[test]
fn the_files_decide_where_to_go_on_whatever_the_group_has_committed() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("once", PARTITIONS);
    let folder = tempfile::TempDir::new().unwrap();
    let name = unique("once");
    produce(&cluster, &topic, 0..3000);
    let setup = writing(&cluster, &topic, &name, folder.path(), &[]);
    let worker = setup.start();
    wait_for_all(folder.path(), 3000);
    stop(worker);
    produce(&cluster, &topic, 3000..6000);
    for (committed, n) in [(None, 6000), (Some(100_i64), 9000), (Some(2900), 12_000)] {
        let group = unique("group");
        if let Some(offset) = committed {
            (0..PARTITIONS).for_each(|partition| cluster.commit(&group, &topic, partition, offset));
        }
        let group = ("consumer.override.group.id", group.as_str());
        let setup = writing(&cluster, &topic, &name, folder.path(), &[group]);
        let worker = setup.start();
        wait_for_all(folder.path(), n);
        stop(worker);
        wait_for_all(folder.path(), n);
        produce(&cluster, &topic, n..n + 3000);
    }
}

#[test]
fn a_worker_that_was_frozen_while_another_one_took_over_doubles_nothing() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("once", PARTITIONS);
    let folder = tempfile::TempDir::new().unwrap();
    let name = unique("once");
    let setups = [(); 2].map(|()| writing(&cluster, &topic, &name, folder.path(), &[]));
    produce(&cluster, &topic, 0..30_000);
    let mut older = setups[0].start();
    eventually_true("files appear", TIMEOUT, || !lines(folder.path()).is_empty());
    older.freeze();
    let newer = setups[1].start();
    let before = lines(folder.path()).len();
    eventually_true("more files appear", TIMEOUT, || lines(folder.path()).len() > before);
    produce(&cluster, &topic, 30_000..33_000);
    older.thaw();
    older.wait_for_log("has taken the place of this task", TIMEOUT);
    wait_for_all(folder.path(), 33_000);
    stop(older);
    produce(&cluster, &topic, 33_000..36_000);
    wait_for_all(folder.path(), 36_000);
    stop(newer);
    wait_for_all(folder.path(), 36_000);
}
