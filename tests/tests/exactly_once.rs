//! Goal: a reader of committed records sees every record of an exactly-once source once and in order, whatever happens to
//! the worker, and wherever its offsets are. Method: the real worker on the real broker, killed, doubled, moved and shrunk.
#![forbid(unsafe_code)]

use connect_tests::{
    Cluster, Incoming, Isolation, JavaDistributed, Standalone, Worker, connectors::numbers, eventually,
    eventually_true, unique,
};
use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

const TIMEOUT: Duration = Duration::from_secs(90);
const ON: (&str, &str) = ("exactly.once.source.support", "enabled");
const FILE_SOURCE: (&str, &str) = ("connector.class", "FileStreamSource");
const NUMBERS: (&str, &str) = ("connector.class", "numbers");

/// A worker with an id of its own whose offsets are in a topic.
fn with_topic(cluster: &Cluster) -> Standalone {
    let setup = Standalone::new(cluster.bootstrap()).test_worker().unset("offset.storage.file.filename");
    let setup = setup.set("offset.storage.topic", unique("offsets")).set("offset.storage.partitions", "3");
    setup.set("group.id", unique("group"))
}

fn stop(mut worker: Worker) {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

fn append(path: &Path, lines: impl IntoIterator<Item = usize>) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    let text: String = lines.into_iter().map(|i| format!("{i}\n")).collect();
    file.write_all(text.as_bytes()).unwrap();
}

/// What a reader of committed records sees is `0..n`, each once and in order.
fn check_lines(cluster: &Cluster, topic: &str, n: usize) {
    let expected: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    let found = cluster.read_texts(topic);
    let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!(wrong, None, "{:?}", &found[wrong.unwrap_or(0)..found.len().min(wrong.unwrap_or(0) + 5)]);
    assert_eq!(found.len(), n);
}

fn wait_for_lines(cluster: &Cluster, topic: &str, n: usize) {
    cluster.wait_for_records(topic, n, TIMEOUT);
}

/// Every partition of `numbers` is there whole, each record once and in order.
fn check_numbers(records: &[Incoming], partitions: i64, limit: i64) {
    let mut next: BTreeMap<i64, i64> = (0..partitions).map(|p| (p, 0)).collect();
    for record in records {
        let (p, i) = numbers::parse(&record.text()).expect("a record of `numbers`");
        let expected = next.get_mut(&p).expect("a partition of `numbers`");
        assert_eq!(i, *expected, "partition {p}");
        *expected += 1;
    }
    assert!(next.values().all(|n| *n == limit), "{next:?} of {limit} each");
}

/// Lines come once over kills at any moment, while the file grows.
fn survives_kills(cluster: &Cluster, setup: &Standalone, topic: &str) {
    const LINES: usize = 15_000;
    const KILLS: usize = 6;
    let (path, done) = (setup.dir().join("in.txt"), AtomicBool::new(false));
    File::create(&path).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            for from in (0..LINES).step_by(50) {
                append(&path, from..from + 50);
                thread::park_timeout(Duration::from_millis(10));
            }
            done.store(true, Ordering::Release);
        });
        for kill in 1..=KILLS {
            let mut worker = setup.start();
            let before = cluster.read(topic, Isolation::ReadUncommitted).len();
            eventually_true("the worker produces", TIMEOUT, || {
                let now = cluster.read(topic, Isolation::ReadUncommitted).len();
                now > before + kill * 7 || done.load(Ordering::Acquire)
            });
            worker.kill9();
        }
    });
    let worker = setup.start();
    append(&path, LINES..LINES + 50);
    wait_for_lines(cluster, topic, LINES + 50);
    stop(worker);
    check_lines(cluster, topic, LINES + 50);
}

#[test]
fn lines_come_once_over_kills_with_offsets_in_the_workers_topic() {
    let cluster = Cluster::shared();
    let topic = unique("once");
    let setup = with_topic(&cluster);
    let file = setup.path("in.txt");
    let setup = setup.connector(&unique("source"), &[FILE_SOURCE, ("file", &file), ("topic", &topic), ON]);
    survives_kills(&cluster, &setup, &topic);
}

#[test]
fn lines_come_once_over_kills_with_a_topic_of_the_connectors_own_beside_the_workers_file() {
    let cluster = Cluster::shared();
    let (topic, offsets, name) = (unique("once"), unique("own-offsets"), unique("source"));
    let setup = Standalone::new(cluster.bootstrap()).test_worker().set("group.id", unique("group"));
    let file = setup.path("in.txt");
    let interval = [("transaction.boundary", "interval"), ("transaction.boundary.interval.ms", "50")];
    let own = [FILE_SOURCE, ("file", &*file), ("topic", &*topic), ON, ("offsets.storage.topic", &*offsets)];
    let setup = setup.connector(&name, &[&own[..], &interval[..]].concat());
    survives_kills(&cluster, &setup, &topic);
    // The graceful stop has waited for the copy.
    let position = std::fs::metadata(&file).unwrap().len();
    let copy = setup.read("offsets");
    assert!(copy.contains(&name) && copy.contains(&format!("{{\"position\":{position}}}")), "{copy}");
}

#[test]
fn moving_from_the_file_keeps_the_offsets() {
    let cluster = Cluster::shared();
    for own_topic in [false, true] {
        let (topic, name) = (unique("moved"), unique("source"));
        let setup = Standalone::new(cluster.bootstrap()).test_worker().set("group.id", unique("group"));
        let file = setup.path("in.txt");
        let path = setup.dir().join("in.txt");
        let entries = [FILE_SOURCE, ("file", &*file), ("topic", &*topic)];
        let setup = setup.connector(&name, &entries);
        append(&path, 0..100);
        let worker = setup.start();
        wait_for_lines(&cluster, &topic, 100);
        stop(worker);
        append(&path, 100..200);
        let offsets = unique("offsets");
        let setup = if own_topic {
            setup.connector(&name, &[&entries[..], &[ON, ("offsets.storage.topic", &*offsets)]].concat())
        } else {
            setup.set("offset.storage.topic", &*offsets).connector(&name, &[&entries[..], &[ON]].concat())
        };
        let worker = setup.start();
        wait_for_lines(&cluster, &topic, 200);
        stop(worker);
        // From now on the topic alone will do.
        let setup = setup.unset("offset.storage.file.filename").set("offset.storage.topic", &*offsets);
        append(&path, 200..300);
        let worker = setup.start();
        wait_for_lines(&cluster, &topic, 300);
        stop(worker);
        check_lines(&cluster, &topic, 300);
    }
}

#[test]
fn of_two_workers_with_the_same_id_the_older_one_is_fenced() {
    let cluster = Cluster::shared();
    let topic = unique("double");
    let setup = with_topic(&cluster).connector(
        &unique("numbers"),
        &[NUMBERS, ("topic", &topic), ("limit", "2000"), ("poll.records", "20"), ("pause.ms", "20"), ON],
    );
    let mut older = setup.start();
    wait_for_lines(&cluster, &topic, 200);
    let mut newer = setup.start();
    let log = older.wait_for_log("task failed", TIMEOUT);
    assert!(log.to_lowercase().contains("fenced"), "the log does not say that the task was fenced");
    wait_for_lines(&cluster, &topic, 2000);
    assert!(older.ended().is_none() && newer.ended().is_none());
    assert!(!newer.log().contains("task failed"));
    stop(newer);
    stop(older);
    check_numbers(&cluster.read(&topic, Isolation::ReadCommitted), 1, 2000);
}

#[test]
fn fewer_tasks_after_a_kill_fence_all_that_were_there() {
    let cluster = Cluster::shared();
    let topic = unique("shrunk");
    let name = unique("numbers");
    let entries = |tasks: &'static str, interval: &'static str| {
        [
            NUMBERS,
            ("partitions", "8"),
            ("limit", "3000"),
            ("poll.records", "10"),
            ("pause.ms", "10"),
            ("tasks.max", tasks),
            ("transaction.boundary", "interval"),
            ("transaction.boundary.interval.ms", interval),
            ON,
        ]
    };
    let with = |setup: Standalone, tasks, interval| {
        let to = [("topic", &*topic)];
        setup.connector(&name, &[&entries(tasks, interval)[..], &to].concat())
    };
    // Four tasks, each killed with a transaction that would stay open for a minute.
    let setup = with(with_topic(&cluster), "4", "600000");
    let mut worker = setup.start();
    eventually_true("every task has written", TIMEOUT, || {
        let records = cluster.read(&topic, Isolation::ReadUncommitted);
        let partitions: std::collections::BTreeSet<String> = records.iter().map(Incoming::key_text).collect();
        partitions.len() == 8
    });
    worker.kill9();
    assert!(cluster.read(&topic, Isolation::ReadCommitted).is_empty(), "nothing was committed");
    let start = Instant::now();
    let setup = with(setup, "2", "100");
    let mut worker = setup.start();
    wait_for_lines(&cluster, &topic, 1);
    assert!(start.elapsed() < Duration::from_secs(20), "open transactions held it up: {:?}", start.elapsed());
    let log = worker.wait_for_log("fencing older tasks", TIMEOUT);
    assert!(log.contains("tasks=4"), "{log}");
    wait_for_lines(&cluster, &topic, 8 * 3000);
    stop(worker);
    check_numbers(&cluster.read(&topic, Isolation::ReadCommitted), 8, 3000);
}

#[test]
fn an_idle_task_writes_nothing_and_the_first_record_is_out_at_once() {
    let cluster = Cluster::shared();
    let (idle, busy) = (unique("idle"), unique("busy"));
    let (idle_offsets, busy_offsets) = (unique("idle-offsets"), unique("busy-offsets"));
    let setup = with_topic(&cluster)
        .connector(
            &unique("idle"),
            &[NUMBERS, ("topic", &idle), ("limit", "5"), ON, ("offsets.storage.topic", &idle_offsets)],
        )
        .connector(
            &unique("busy"),
            &[
                NUMBERS,
                ("topic", &busy),
                ("poll.records", "1"),
                ("pause.ms", "50"),
                ON,
                ("offsets.storage.topic", &busy_offsets),
            ],
        );
    // Both topics and the offsets topic are made in the first life.
    let mut worker = setup.start();
    wait_for_lines(&cluster, &idle, 5);
    wait_for_lines(&cluster, &busy, 1);
    let offsets = || cluster.read(&idle_offsets, Isolation::ReadUncommitted).len();
    assert_eq!(offsets(), 1);
    wait_for_lines(&cluster, &busy, 40);
    assert_eq!((offsets(), cluster.read_texts(&idle).len()), (1, 5), "an idle task writes no offsets");
    worker.kill9();
    let n = cluster.read(&busy, Isolation::ReadCommitted).len();
    let mut worker = setup.start();
    worker.wait_for_log("connector guarantees", TIMEOUT);
    let start = Instant::now();
    wait_for_lines(&cluster, &busy, n + 1);
    // A second is what is promised; a debug build on a busy machine gets some more.
    assert!(start.elapsed() < Duration::from_secs(3), "the first record took {:?}", start.elapsed());
    eprintln!("first record after {:?}", start.elapsed());
    stop(worker);
    assert_eq!(offsets(), 1, "neither a start nor a stop of an idle task writes offsets");
}

#[test]
fn a_task_may_not_produce_to_its_own_offsets_topic() {
    let cluster = Cluster::shared();
    let own = unique("own-offsets");
    let setup = with_topic(&cluster)
        .connector(&unique("looping"), &[NUMBERS, ("topic", &own), ON, ("offsets.storage.topic", &own)]);
    let mut worker = setup.start();
    let log = worker.wait_for_log("task failed", TIMEOUT);
    let kafkas = "Source tasks may not produce to their own offsets topics when exactly-once support is enabled";
    assert!(log.contains(kafkas), "{log}");
    assert!(cluster.read(&own, Isolation::ReadUncommitted).is_empty());
}

#[test]
fn an_own_topic_of_an_ordinary_connector_is_copied_too() {
    let cluster = Cluster::shared();
    let (topic, own, workers) = (unique("copied"), unique("own-offsets"), unique("offsets"));
    let setup = with_topic(&cluster)
        .set("offset.storage.topic", &*workers)
        .connector(&unique("numbers"), &[NUMBERS, ("topic", &topic), ("limit", "50"), ("offsets.storage.topic", &own)]);
    let worker = setup.start();
    wait_for_lines(&cluster, &topic, 50);
    stop(worker);
    let last = |topic: &str| cluster.read(topic, Isolation::ReadUncommitted).last().map(Incoming::text);
    assert_eq!(last(&own).as_deref(), Some(r#"{"next":50}"#));
    assert_eq!(last(&workers), last(&own));
}

#[test]
fn javas_worker_goes_on_where_ours_was_and_back() {
    let cluster = Cluster::shared();
    let (group, offsets, topic, name) = (unique("group"), unique("offsets"), unique("handed-over"), unique("source"));
    let setup = with_topic(&cluster).set("group.id", &*group).set("offset.storage.topic", &*offsets);
    let file = setup.path("in.txt");
    let path = setup.dir().join("in.txt");
    let entries = [("file", &*file), ("topic", &*topic)];
    let setup = setup.connector(&name, &[&entries[..], &[FILE_SOURCE, ON]].concat());
    append(&path, 0..500);
    let mut ours = setup.start();
    wait_for_lines(&cluster, &topic, 500);
    ours.kill9();
    append(&path, 500..1000);
    let mut java = JavaDistributed::start(
        cluster.bootstrap(),
        &[("group.id", &group), ("offset.storage.topic", &offsets), ("exactly.once.source.support", "enabled")],
    );
    let class = ("connector.class", "org.apache.kafka.connect.file.FileStreamSourceConnector");
    java.create(&name, &[&entries[..], &[class, ("tasks.max", "1")]].concat());
    wait_for_lines(&cluster, &topic, 1000);
    java.worker.kill9();
    append(&path, 1000..1500);
    let ours = setup.start();
    wait_for_lines(&cluster, &topic, 1500);
    stop(ours);
    check_lines(&cluster, &topic, 1500);
    // Both wrote under the same key.
    let keys: std::collections::BTreeSet<String> =
        cluster.read(&offsets, Isolation::ReadUncommitted).iter().map(Incoming::key_text).collect();
    assert_eq!(keys.len(), 1, "{keys:?}");
    eventually("the last offset", TIMEOUT, || {
        cluster.read_texts(&offsets).last().cloned().filter(|o| o.contains("position"))
    });
}
