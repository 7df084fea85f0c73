//! Goal: a file that is tailed into a topic arrives whole and in order, whatever happens to the worker. Method: the real
//! worker on the real broker, killed and stopped while the file grows.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Isolation, Standalone, Worker, eventually, eventually_true, unique};
use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

const TIMEOUT: Duration = Duration::from_secs(60);

/// A worker that tails `in.txt` into a topic of its own.
fn tailing(cluster: &Cluster, prefix: &str) -> (Standalone, String) {
    let topic = unique(prefix);
    let name = unique("source");
    let setup = Standalone::new(cluster.bootstrap());
    let file = setup.path("in.txt");
    let setup = setup.connector(&name, &[("connector.class", "FileStreamSource"), ("file", &file), ("topic", &topic)]);
    (setup, topic)
}

fn append(setup: &Standalone, text: &str) {
    let path = setup.dir().join("in.txt");
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn stop(mut worker: Worker) {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

fn texts(cluster: &Cluster, topic: &str, n: usize) -> Vec<String> {
    cluster.wait_for_records(topic, n, TIMEOUT).iter().map(connect_tests::Incoming::text).collect()
}

#[test]
fn lines_arrive_byte_for_byte_and_a_restart_goes_on_where_it_was() {
    let cluster = Cluster::shared();
    let (setup, topic) = tailing(&cluster, "lines");
    append(&setup, "first\n\nthird with ünïcode \u{1F980}\r\nunfinished");
    let worker = setup.start();
    assert_eq!(texts(&cluster, &topic, 3), ["first", "", "third with ünïcode \u{1F980}"]);
    append(&setup, " no more\n");
    assert_eq!(texts(&cluster, &topic, 4)[3], "unfinished no more");
    stop(worker);
    append(&setup, "while it was away\n");
    let worker = setup.start();
    assert_eq!(texts(&cluster, &topic, 5)[4], "while it was away");
    stop(worker);
    assert_eq!(cluster.read_texts(&topic).len(), 5, "a graceful stop repeats nothing");
}

#[test]
fn a_full_disk_under_the_log_stops_nothing() {
    let cluster = Cluster::shared();
    let (setup, topic) = tailing(&cluster, "mute");
    append(&setup, "one\n");
    let worker = setup.start_in_shell("exec \"$@\" 2>/dev/full");
    assert_eq!(texts(&cluster, &topic, 1), ["one"]);
    append(&setup, "two\n");
    assert_eq!(texts(&cluster, &topic, 2)[1], "two");
    stop(worker);
    assert!(setup.read("offsets").contains("\"position\":8"));
}

#[test]
fn an_appended_line_is_out_at_once() {
    let cluster = Cluster::shared();
    let (setup, topic) = tailing(&cluster, "latency");
    append(&setup, "0\n");
    let _worker = setup.start();
    texts(&cluster, &topic, 1);
    for i in 1..=5 {
        append(&setup, &format!("{i}\n"));
        let started = std::time::Instant::now();
        texts(&cluster, &topic, i + 1);
        // Generous for a busy machine; a source that sleeps between looks needs a second.
        assert!(started.elapsed() < Duration::from_millis(900), "line {i} took {:?}", started.elapsed());
    }
}

/// Appends `n` numbered lines in torn writes until told that the file is whole.
fn grow(path: &Path, n: usize, done: &AtomicBool) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    for i in 0..n {
        let line = format!("line {i} {}\n", "x".repeat(i % 70));
        let (head, tail) = line.as_bytes().split_at(line.len() * (i % 5) / 5);
        file.write_all(head).unwrap();
        if i % 50 == 0 {
            thread::park_timeout(Duration::from_millis(10));
        }
        file.write_all(tail).unwrap();
    }
    done.store(true, Ordering::Release);
}

fn is_line(text: &str, i: usize) -> bool {
    text == format!("line {i} {}", "x".repeat(i % 70))
}

/// Every line is there, and each first appearance comes in order.
fn check_at_least_once(texts: &[String], n: usize) {
    let mut next = 0;
    for text in texts {
        let number: usize =
            text.split(' ').nth(1).and_then(|i| i.parse().ok()).unwrap_or_else(|| panic!("torn: {text}"));
        assert!(is_line(text, number), "changed: {text}");
        assert!(number <= next, "line {next} is missing before {text}");
        next += usize::from(number == next);
    }
    assert_eq!(next, n, "lines are missing at the end");
}

#[test]
fn no_line_is_lost_over_kills_while_the_file_grows() {
    const LINES: usize = 20_000;
    const KILLS: usize = 6;
    let cluster = Cluster::shared();
    let (setup, topic) = tailing(&cluster, "killed");
    File::create(setup.dir().join("in.txt")).unwrap();
    let (path, done) = (setup.dir().join("in.txt"), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| grow(&path, LINES, &done));
        for kill in 1..=KILLS {
            let mut worker = setup.start();
            // Each life gets some lines out before its end comes at some moment of the work.
            let before = cluster.read(&topic, Isolation::ReadUncommitted).len();
            eventually_true("the worker produces", TIMEOUT, || {
                let now = cluster.read(&topic, Isolation::ReadUncommitted).len();
                now > before || (done.load(Ordering::Acquire) && now >= LINES)
            });
            worker.kill9();
            eprintln!("kill {kill} after {before} records");
        }
    });
    let worker = setup.start();
    eventually("the last line", TIMEOUT, || {
        cluster.read_texts(&topic).last().filter(|t| is_line(t, LINES - 1)).cloned()
    });
    stop(worker);
    check_at_least_once(&cluster.read_texts(&topic), LINES);
}

#[test]
fn graceful_stops_repeat_nothing() {
    const LINES: usize = 8_000;
    let cluster = Cluster::shared();
    let (setup, topic) = tailing(&cluster, "stopped");
    File::create(setup.dir().join("in.txt")).unwrap();
    let (path, done) = (setup.dir().join("in.txt"), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| grow(&path, LINES, &done));
        for _ in 0..4 {
            let mut worker = setup.start();
            worker.wait_for_log("RUNNING", TIMEOUT);
            stop(worker);
        }
    });
    let worker = setup.start();
    texts(&cluster, &topic, LINES);
    stop(worker);
    let all = cluster.read_texts(&topic);
    assert_eq!(all.len(), LINES, "a record is twice");
    check_at_least_once(&all, LINES);
}

#[test]
fn several_files_are_spread_over_tasks_and_one_idle_file_does_not_hold_the_others() {
    let cluster = Cluster::shared();
    let topic = unique("files");
    let setup = Standalone::new(cluster.bootstrap());
    let names: Vec<String> = (0..5).map(|i| setup.path(&format!("in-{i}.txt"))).collect();
    for (i, name) in names.iter().enumerate().skip(1) {
        std::fs::write(name, format!("{i}-a\n{i}-b\n")).unwrap();
    }
    let setup = setup.connector(
        &unique("source"),
        &[("connector.class", "FileStreamSource"), ("files", &names.join(",")), ("topic", &topic), ("tasks.max", "2")],
    );
    let mut worker = setup.start();
    let mut found = texts(&cluster, &topic, 8);
    found.sort();
    assert_eq!(found, ["1-a", "1-b", "2-a", "2-b", "3-a", "3-b", "4-a", "4-b"]);
    worker.wait_for_log("does not exist; waiting for it", TIMEOUT);
    std::fs::write(&names[0], "late\n").unwrap();
    assert_eq!(texts(&cluster, &topic, 9)[8], "late");
    stop(worker);
}

#[test]
fn a_record_above_the_limit_fails_the_task_with_both_keys_and_loses_nothing() {
    let cluster = Cluster::shared();
    let (setup, topic) = tailing(&cluster, "large");
    append(&setup, &format!("before\n{}\nafter\n", "x".repeat(1_100_000)));
    let mut worker = setup.start();
    let log = worker.wait_for_log("task failed", TIMEOUT);
    for expected in ["1100000", "max.request.size", "max.message.bytes"] {
        assert!(log.contains(expected), "the log does not name `{expected}`");
    }
    assert_eq!(texts(&cluster, &topic, 1), ["before"]);
    stop(worker);
    // Nothing was passed over: with room for it, it comes first.
    cluster.create_topic(&unique("unused"), 1, &[]);
    let larger = setup.set("producer.max.request.size", "4194304");
    let mut worker = larger.start();
    worker.wait_for_log("max.message.bytes", TIMEOUT);
    stop(worker);
    assert_eq!(cluster.read_texts(&topic), ["before"]);
}

#[test]
fn records_of_a_mebibyte_pass_where_client_and_topic_allow_them() {
    let cluster = Cluster::shared();
    let (setup, topic) = tailing(&cluster, "mebibyte");
    cluster.create_topic(&topic, 1, &[("max.message.bytes", "2097152")]);
    let setup = setup.set("producer.max.request.size", "2097152");
    let lines: Vec<String> = (0..8).map(|i| format!("{i}").repeat(1024 * 1024)).collect();
    append(&setup, &(lines.join("\n") + "\n"));
    let worker = setup.start();
    assert!(texts(&cluster, &topic, 8) == lines, "a line was changed");
    stop(worker);
}

#[test]
fn a_large_file_is_read_in_bounded_memory() {
    const LINES: usize = 300_000;
    let cluster = Cluster::shared();
    let (setup, topic) = tailing(&cluster, "bounded");
    let line = "z".repeat(1023) + "\n";
    let mut file = File::create(setup.dir().join("in.txt")).unwrap();
    for _ in 0..LINES / 100 {
        file.write_all(line.repeat(100).as_bytes()).unwrap();
    }
    let mut worker = setup.start();
    let offset = format!("{{\"position\":{}}}", LINES * 1024);
    eventually_true("the whole file is read", Duration::from_secs(180), || setup.read("offsets").contains(&offset));
    let peak = worker.peak_memory_kib().expect("Linux tells it");
    assert!(peak < 400 * 1024, "the worker held {peak} KiB for a file of 300 MiB");
    assert!(worker.ended().is_none());
    stop(worker);
    cluster.delete_topic(&topic);
}
