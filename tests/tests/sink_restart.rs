//! Goal: sink tasks are back at work at once after a crash, and nobody waits for the session of a member that is gone.
//! Method: the real worker on the real broker with Kafka's default session of 45 s, which no test waits for.
#![forbid(unsafe_code)]

use connect_tests::{Cluster, Outgoing, Standalone, Worker, eventually_true, unique};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

const TIMEOUT: Duration = Duration::from_secs(60);
/// Far below the session's 45 s, and far above what it takes, for machines that are busy.
const AT_ONCE: Duration = Duration::from_secs(20);
const PARTITIONS: i32 = 4;

struct Sink {
    cluster: Cluster,
    topic: String,
    name: String,
    n: i32,
}

impl Sink {
    fn new() -> Self {
        let cluster = Cluster::shared();
        let topic = cluster.new_topic("restart", PARTITIONS);
        Self { cluster, topic, name: unique("sink"), n: 0 }
    }

    fn worker(&self, entries: &[(&str, &str)]) -> Standalone {
        let setup = Standalone::new(self.cluster.bootstrap());
        self.configured(setup, entries)
    }

    fn configured(&self, setup: Standalone, entries: &[(&str, &str)]) -> Standalone {
        let file = setup.path("out.txt");
        let mut all = vec![("connector.class", "FileStreamSink"), ("topics", self.topic.as_str())];
        all.extend([("file", file.as_str()), ("tasks.max", "2")]);
        all.retain(|(key, _)| entries.iter().all(|(other, _)| key != other));
        all.extend(entries);
        setup.connector(&self.name, &all)
    }

    fn group(&self) -> String {
        format!("connect-{}", self.name)
    }

    /// Writes one record to each partition, and says which.
    fn produce(&mut self) -> BTreeSet<String> {
        let values: BTreeSet<String> = (self.n..self.n + PARTITIONS).map(|i| format!("record {i}")).collect();
        let record = |i| Outgoing::value(format!("record {i}")).to_partition(i % PARTITIONS);
        self.cluster.produce(&self.topic, (self.n..self.n + PARTITIONS).map(record));
        self.n += PARTITIONS;
        values
    }

    /// Writes one record to each partition and waits until they are in the file; says how long that took from `since`.
    fn passes(&mut self, setup: &Standalone, since: Option<Instant>) -> Duration {
        let values = self.produce();
        let since = since.unwrap_or_else(Instant::now);
        let limit = if self.n == PARTITIONS { TIMEOUT } else { AT_ONCE };
        eventually_true("new records are in the file", limit, || {
            let text = setup.read("out.txt");
            let lines: BTreeSet<&str> = text.lines().collect();
            values.iter().all(|value| lines.contains(value.as_str()))
        });
        since.elapsed()
    }
}

fn stop(mut worker: Worker) {
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
}

#[test]
fn after_a_kill_new_records_are_written_within_seconds_of_the_restart() {
    for strategy in ["CooperativeStickyAssignor", "RangeAssignor", "RoundRobinAssignor"] {
        let mut sink = Sink::new();
        let key = "consumer.override.partition.assignment.strategy";
        let class = format!("org.apache.kafka.clients.consumer.{strategy}");
        let setup = sink.worker(&[(key, &class)]);
        let mut worker = setup.start();
        sink.passes(&setup, None);
        for _ in 0..2 {
            worker.kill9();
            let restarted = Instant::now();
            worker = setup.start();
            let took = sink.passes(&setup, Some(restarted));
            println!("{strategy}: back at work {took:?} after the restart");
        }
        stop(worker);
    }
}

#[test]
fn fewer_tasks_after_a_kill_leave_no_partition_waiting() {
    let mut sink = Sink::new();
    let mut setup = sink.worker(&[("tasks.max", "3")]);
    let mut worker = setup.start();
    sink.passes(&setup, None);
    worker.kill9();
    setup = sink.configured(setup, &[("tasks.max", "1")]);
    let restarted = Instant::now();
    let worker = setup.start();
    let took = sink.passes(&setup, Some(restarted));
    println!("one task has all partitions {took:?} after the restart");
    assert_eq!(sink.cluster.members(&sink.group()), [format!("connector-consumer-{}-0", sink.name)]);
    stop(worker);
}

#[test]
fn a_stop_leaves_the_group_empty() {
    let mut sink = Sink::new();
    let setup = sink.worker(&[]);
    let worker = setup.start();
    sink.passes(&setup, None);
    assert_eq!(sink.cluster.members(&sink.group()).len(), 2);
    stop(worker);
    assert_eq!(sink.cluster.members(&sink.group()), [""; 0]);
}

#[test]
fn a_topic_that_was_added_while_a_killed_worker_was_away_is_read() {
    let mut sink = Sink::new();
    let more = sink.cluster.new_topic("restart", 1);
    let mut setup = sink.worker(&[]);
    let mut worker = setup.start();
    sink.passes(&setup, None);
    worker.kill9();
    let topics = format!("{},{more}", sink.topic);
    setup = sink.configured(setup, &[("topics", &topics)]);
    sink.cluster.produce(&more, [Outgoing::value("of another topic")]);
    let worker = setup.start();
    eventually_true("the new topic is read", AT_ONCE, || setup.read("out.txt").contains("of another topic"));
    sink.passes(&setup, None);
    stop(worker);
}

#[test]
fn a_topic_that_was_left_out_while_a_killed_worker_was_away_is_not_read() {
    let mut sink = Sink::new();
    let other = sink.cluster.new_topic("restart", 2);
    let topics = format!("{},{other}", sink.topic);
    let mut setup = sink.worker(&[("topics", &topics)]);
    let mut worker = setup.start();
    sink.passes(&setup, None);
    worker.kill9();
    setup = sink.configured(setup, &[]);
    sink.cluster.produce(&other, [Outgoing::value("of a topic that is not read")]);
    let worker = setup.start();
    sink.passes(&setup, None);
    eventually_true("the group has let go of the other topic", AT_ONCE, || {
        sink.cluster
            .assignments(&sink.group())
            .iter()
            .flat_map(|member| member.keys())
            .all(|topic| *topic == sink.topic)
    });
    sink.passes(&setup, None);
    assert!(!setup.read("out.txt").contains("not read"));
    stop(worker);
}

#[test]
fn partitions_that_were_added_while_a_killed_worker_was_away_are_read() {
    let mut sink = Sink::new();
    let setup = sink.worker(&[]);
    let mut worker = setup.start();
    sink.passes(&setup, None);
    worker.kill9();
    sink.cluster.grow_topic(&sink.topic, PARTITIONS + 1);
    sink.cluster.produce(&sink.topic, [Outgoing::value("of another partition").to_partition(PARTITIONS)]);
    let restarted = Instant::now();
    let worker = setup.start();
    eventually_true("the new partition is read", AT_ONCE, || setup.read("out.txt").contains("of another partition"));
    println!("a new partition is read {:?} after the restart", restarted.elapsed());
    stop(worker);
}

#[test]
fn of_two_workers_with_the_same_task_the_older_one_stops_writing_and_says_why() {
    let mut sink = Sink::new();
    let (first, second) = (sink.worker(&[("tasks.max", "1")]), sink.worker(&[("tasks.max", "1")]));
    let mut older = first.start();
    sink.passes(&first, None);
    let mut newer = second.start();
    newer.wait_for_log("partitions assigned", TIMEOUT);
    let log = older.wait_for_log("task failed", AT_ONCE);
    let place = format!("`connector-consumer-{}-0` in the group `connect-{}`", sink.name, sink.name);
    let lines = log.lines().find(|line| line.contains("has taken the place of this task"));
    assert!(lines.is_some_and(|line| line.contains(&place)), "{log}");
    let before = first.read("out.txt");
    sink.passes(&second, None);
    // The older one leaves, which must not take the newer one's place away.
    stop(older);
    sink.passes(&second, None);
    assert_eq!(first.read("out.txt"), before);
    assert!(!newer.log().contains("partitions lost"));
    stop(newer);
    let committed = sink.cluster.committed(&sink.group(), &sink.topic);
    assert_eq!(committed, (0..PARTITIONS).map(|p| (p, i64::from(sink.n / PARTITIONS))).collect());
}

#[test]
fn a_name_of_the_user_s_own_is_kept_and_refused_for_several_tasks() {
    let mut sink = Sink::new();
    let own = ("consumer.override.group.instance.id", "mine");
    let setup = sink.worker(&[own, ("tasks.max", "1")]);
    let mut worker = setup.start();
    sink.passes(&setup, None);
    worker.kill9();
    let restarted = Instant::now();
    worker = setup.start();
    println!("back at work {:?} after the restart", sink.passes(&setup, Some(restarted)));
    stop(worker);
    let setup = sink.worker(&[own]);
    let mut worker = setup.start();
    let log = worker.wait_for_log("`group.instance.id` is `mine` for all 2 tasks", TIMEOUT);
    assert!(log.contains("task failed"));
    stop(worker);
}
