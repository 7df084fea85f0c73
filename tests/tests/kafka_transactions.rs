//! Goal: records and offsets of an exactly-once task are seen together, once, or not at all, whatever happens to the
//! broker and to other producers. Method: transactional producers of the worker without a worker, on a real broker; readers
//! see committed records only. Brokers that are killed, frozen or set up in an odd way belong to the test.
#![forbid(unsafe_code)]

use connect_runtime::kafka::{ClientConfig, ClientKind, OffsetRecords, TransactionalTaskProducer, fence};
use connect_sdk::{
    error::TaskError,
    source::{FieldMap, FieldValue, OffsetMap, PartitionMap},
    task::ports::{
        Ack, ProduceBatch, ProduceRecord, RecordProducer, Slice, TransactionEnd, TransactionError,
        TransactionalProducer,
    },
};
use connect_tests::{
    Cluster, Incoming, Isolation, Outgoing,
    broker::{self, Kafka, Options},
    eventually_true, unique,
};
use std::{
    future::poll_fn,
    sync::{Arc, Mutex, OnceLock},
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// Offsets whose keys are the partitions' names, and what the producer said of them.
struct Offsets {
    topic: String,
    committed: Mutex<Vec<(PartitionMap, OffsetMap)>>,
}

impl OffsetRecords for Offsets {
    fn topic(&self) -> &str {
        &self.topic
    }

    fn records(&self, offsets: &[(PartitionMap, OffsetMap)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        offsets.iter().map(|(partition, offset)| (text(partition), text(offset))).collect()
    }

    fn committed(&self, mut offsets: Vec<(PartitionMap, OffsetMap)>) {
        self.committed.lock().expect("nobody panics").append(&mut offsets);
    }
}

fn text(map: &FieldMap) -> Vec<u8> {
    match map.get("name") {
        Some(FieldValue::Text(text)) => text.clone().into_bytes(),
        other => panic!("{other:?}"),
    }
}

/// One task's surroundings.
struct Rig {
    cluster: Cluster,
    topic: String,
    id: String,
    offsets: Arc<Offsets>,
}

impl Rig {
    fn new(cluster: Cluster) -> Self {
        let topic = cluster.new_topic("transactions", 1);
        let offsets = cluster.new_topic("transactions-offsets", 25);
        let offsets = Arc::new(Offsets { topic: offsets, committed: Mutex::default() });
        Self { cluster, topic, id: unique("group-connector"), offsets }
    }

    fn config(&self, id: &str, entries: &[(&str, &str)]) -> ClientConfig {
        let builder = ClientConfig::builder(ClientKind::Producer)
            .set("bootstrap.servers", self.cluster.bootstrap())
            .set("client.id", "test")
            .prefixed("x.", entries.iter().copied())
            .transactional(id);
        builder.build().expect("the settings are right").0
    }

    async fn start(&self, entries: &[(&str, &str)]) -> Task {
        self.start_as(&self.id, entries).await
    }

    async fn start_as(&self, id: &str, entries: &[(&str, &str)]) -> Task {
        let offsets = Arc::clone(&self.offsets) as Arc<dyn OffsetRecords>;
        let mut producer =
            TransactionalTaskProducer::start(&self.config(id, entries), offsets).expect("a producer starts");
        in_time(poll_fn(|cx| producer.poll_start(cx))).await.expect("the id can be had");
        Task { producer, topic: self.topic.clone(), seq: 0 }
    }

    fn committed(&self) -> Vec<String> {
        self.cluster.read_texts(&self.topic)
    }

    /// Keys, values and partitions of the committed offsets.
    fn committed_offsets(&self) -> Vec<(String, String, i32)> {
        let records = self.cluster.read(&self.offsets.topic, Isolation::ReadCommitted);
        records.iter().map(|record| (record.key_text(), record.text(), record.partition)).collect()
    }

    /// Waits until readers of committed records get past every transaction that was open at the time of the call.
    fn wait_for_readers(&self, timeout: Duration) {
        self.cluster.produce(&self.topic, [Outgoing::value("end")]);
        let is_end = |record: &Incoming| record.text() == "end";
        eventually_true("readers are not held up", timeout, || {
            self.cluster.read(&self.topic, Isolation::ReadCommitted).last().is_some_and(is_end)
        });
    }
}

struct Task {
    producer: TransactionalTaskProducer,
    topic: String,
    seq: u64,
}

impl Task {
    /// Hands the texts over as one batch.
    async fn send(&mut self, texts: &[String]) {
        let mut batch = self.batch(texts);
        let sent = in_time(poll_fn(|cx| self.producer.poll_send(cx, &mut batch))).await;
        sent.expect("the batch is taken");
    }

    fn batch(&mut self, texts: &[String]) -> Option<ProduceBatch> {
        let mut batch =
            ProduceBatch { first_seq: self.seq, topics: vec![self.topic.as_str().into()], ..ProduceBatch::default() };
        for text in texts {
            let start = u32::try_from(batch.buffers[0].len()).expect("small");
            batch.buffers[0].extend_from_slice(text.as_bytes());
            let value = Some(Slice { buffer: 0, start, len: u32::try_from(text.len()).expect("small") });
            // A fixed partition, of a topic that the client does not know yet at the first record.
            let partition = Some(0);
            batch.records.push(ProduceRecord {
                topic: 0,
                partition,
                timestamp: None,
                key: None,
                value,
                headers: (0, 0),
            });
        }
        self.seq += texts.len() as u64;
        Some(batch)
    }

    async fn end(&mut self, how: TransactionEnd) -> Result<(), TransactionError> {
        self.producer.end(how);
        self.ended().await
    }

    async fn ended(&mut self) -> Result<(), TransactionError> {
        in_time(poll_fn(|cx| self.producer.poll_end(cx))).await
    }

    async fn commit(&mut self, offset: &str) -> Result<(), TransactionError> {
        self.end(TransactionEnd::Commit(offsets(&[("source", offset)]))).await
    }

    async fn fatal(&mut self, how: TransactionEnd) -> String {
        match self.end(how).await {
            Err(TransactionError::Fatal(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }

    /// Waits until `n` records are acknowledged or refused: how many were delivered, and the errors.
    async fn acks(&mut self, n: u64) -> Result<(u64, Vec<Arc<TaskError>>), TaskError> {
        let (mut delivered, mut told, mut errors, mut acks) = (0, 0, Vec::new(), Vec::new());
        while told < n {
            in_time(poll_fn(|cx| self.producer.poll_acks(cx, &mut acks))).await?;
            for ack in acks.drain(..) {
                match ack {
                    Ack::Delivered { n, .. } => {
                        delivered += u64::from(n);
                        told += u64::from(n);
                    }
                    Ack::Failed { n, error, .. } => {
                        told += u64::from(n);
                        errors.push(error);
                    }
                }
            }
        }
        Ok((delivered, errors))
    }
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("an answer comes in time")
}

fn offsets(entries: &[(&str, &str)]) -> Vec<(PartitionMap, OffsetMap)> {
    let map = |text: &str| FieldMap::new().with("name", FieldValue::Text(text.to_owned()));
    entries.iter().map(|(partition, offset)| (map(partition), map(offset))).collect()
}

fn texts(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|i| format!("{prefix}{i}")).collect()
}

/// A broker that aborts expired transactions at once and makes no topics by itself.
fn strict_broker() -> Cluster {
    static BROKER: OnceLock<Mutex<Kafka>> = OnceLock::new();
    let options = Options::new()
        .property("transaction.abort.timed.out.transaction.cleanup.interval.ms", "200")
        .property("auto.create.topics.enable", "false");
    let kafka = BROKER.get_or_init(|| Mutex::new(broker::start(options)));
    Cluster::at(kafka.lock().expect("nobody panics").bootstrap())
}

#[tokio::test]
async fn records_and_offsets_are_seen_together_and_aborted_ones_never() {
    let rig = Rig::new(Cluster::shared());
    let mut task = rig.start(&[]).await;
    let (first, lost, second) = (texts("first-", 100), texts("lost-", 50), texts("second-", 1));
    task.send(&first).await;
    // Java's hashes of these keys (`Utils.murmur2`): -973932308 and -790332482.
    task.end(TransactionEnd::Commit(offsets(&[("21", "a"), ("foobar", "b")]))).await.expect("it is committed");
    task.send(&lost).await;
    let (delivered, _) = task.acks(150).await.expect("the producer works");
    assert_eq!(delivered, 150);
    task.end(TransactionEnd::Abort).await.expect("it is aborted");
    task.send(&second).await;
    task.end(TransactionEnd::Commit(Vec::new())).await.expect("it is committed");
    // Nothing is open: the first has nothing to say, the second has an offset.
    task.end(TransactionEnd::Commit(Vec::new())).await.expect("there is nothing to do");
    task.end(TransactionEnd::Commit(offsets(&[("21", "c")]))).await.expect("the offset is committed");

    assert_eq!(rig.committed(), [first, second].concat());
    assert_eq!(rig.cluster.read(&rig.topic, Isolation::ReadUncommitted).len(), 151);
    let partition = |hash: i32| (hash & 0x7fff_ffff) % 25;
    let mut expected = vec![
        ("21".to_owned(), "a".to_owned(), partition(-973_932_308)),
        ("21".to_owned(), "c".to_owned(), partition(-973_932_308)),
        ("foobar".to_owned(), "b".to_owned(), partition(-790_332_482)),
    ];
    expected.sort_by_key(|(_, _, partition)| *partition);
    assert_eq!(rig.committed_offsets(), expected);
    let told = rig.offsets.committed.lock().expect("nobody panics").clone();
    assert_eq!(told, offsets(&[("21", "a"), ("foobar", "b"), ("21", "c")]));
}

#[tokio::test]
async fn the_older_of_two_producers_with_one_id_is_fenced() {
    let rig = Rig::new(Cluster::shared());
    let mut old = rig.start(&[]).await;
    old.send(&texts("old-", 10)).await;
    old.acks(10).await.expect("the producer works");
    let mut new = rig.start(&[]).await;
    let why = old.fatal(TransactionEnd::Commit(offsets(&[("source", "old")]))).await;
    assert!(why.contains("another producer has taken") && why.contains(&rig.id) && !why.contains("expired"), "{why}");
    let mut more = old.batch(&texts("older-", 1));
    assert!(poll_fn(|cx| old.producer.poll_send(cx, &mut more)).await.is_err(), "it takes nothing any more");
    assert_eq!(old.fatal(TransactionEnd::Abort).await, why);

    new.send(&texts("new-", 10)).await;
    new.commit("new").await.expect("the newer one works");
    assert_eq!(rig.committed(), texts("new-", 10));
    assert_eq!(rig.committed_offsets().len(), 1);
}

#[tokio::test]
async fn a_producer_that_is_fenced_between_two_batches_fails_and_does_not_blame_a_record() {
    let rig = Rig::new(Cluster::shared());
    let mut old = rig.start(&[]).await;
    old.send(&texts("old-", 10)).await;
    old.acks(10).await.expect("the producer works");
    let _new = rig.start(&[]).await;
    old.send(&texts("older-", 10)).await;
    let why = old.acks(10).await.expect_err("it is fenced").to_string();
    assert!(why.contains("another producer has taken") && why.contains(&rig.id), "{why}");
    assert_eq!(rig.committed(), Vec::<String>::new());
}

#[tokio::test]
async fn an_expired_transaction_is_not_mistaken_for_another_producer() {
    let rig = Rig::new(strict_broker());
    let mut task = rig.start(&[("x.transaction.timeout.ms", "1000")]).await;
    task.send(&texts("late-", 10)).await;
    task.acks(10).await.expect("the producer works");
    rig.wait_for_readers(PATIENCE);
    let why = task.fatal(TransactionEnd::Commit(offsets(&[("source", "late")]))).await;
    let words = [
        "probably expired",
        "`transaction.timeout.ms` is 1000 ms",
        "`producer.override.transaction.timeout.ms`",
        "`transaction.boundary.interval.ms`",
        &rig.id,
    ];
    for word in words {
        assert!(why.contains(word), "{word}: {why}");
    }
    assert_eq!(rig.committed(), ["end"]);
    assert!(rig.committed_offsets().is_empty());
}

#[tokio::test]
async fn a_time_out_above_the_brokers_limit_is_named() {
    let rig = Rig::new(Cluster::shared());
    let config = rig.config(&rig.id, &[("x.transaction.timeout.ms", "100000000")]);
    let offsets = Arc::clone(&rig.offsets) as Arc<dyn OffsetRecords>;
    let mut producer = TransactionalTaskProducer::start(&config, offsets).expect("a producer starts");
    let why = in_time(poll_fn(|cx| producer.poll_start(cx))).await.expect_err("it is too long").to_string();
    for word in ["`transaction.timeout.ms`", "100000000 ms", "`transaction.max.timeout.ms`"] {
        assert!(why.contains(word), "{word}: {why}");
    }
}

#[tokio::test]
async fn a_transaction_outlives_its_broker_at_every_step() {
    let mut kafka = broker::start(Options::new());
    let rig = Rig::new(Cluster::at(kafka.bootstrap()));
    let mut task = rig.start(&[]).await;
    task.send(&texts("a-", 100)).await;
    task.acks(100).await.expect("the producer works");
    // Between two batches, ...
    kafka.kill9().expect("the broker is killed");
    task.send(&texts("b-", 100)).await;
    kafka.restart().expect("the broker comes back");
    task.commit("1").await.expect("it is committed");
    // ... and before the end.
    task.send(&texts("c-", 100)).await;
    task.acks(200).await.expect("the producer works");
    kafka.kill9().expect("the broker is killed");
    task.producer.end(TransactionEnd::Commit(offsets(&[("source", "2")])));
    kafka.restart().expect("the broker comes back");
    task.ended().await.expect("it is committed");
    // A single broker that is killed before the markers of a transaction are written may forget them: see `broker::start`.
    eventually_true("what is committed is seen", PATIENCE, || rig.committed().len() == 300);
    task.send(&texts("lost-", 10)).await;
    kafka.kill9().expect("the broker is killed");
    task.producer.end(TransactionEnd::Abort);
    kafka.restart().expect("the broker comes back");
    task.ended().await.expect("it is aborted");
    task.send(&texts("d-", 1)).await;
    task.commit("3").await.expect("it is committed");
    assert_eq!(rig.committed(), [texts("a-", 100), texts("b-", 100), texts("c-", 100), texts("d-", 1)].concat());
    assert_eq!(
        rig.committed_offsets().iter().map(|(_, offset, _)| offset.as_str()).collect::<Vec<_>>(),
        ["1", "2", "3"]
    );
}

#[tokio::test]
async fn a_commit_without_an_answer_is_resumed() {
    let kafka = broker::start(Options::new());
    let rig = Rig::new(Cluster::at(kafka.bootstrap()));
    let mut task = rig.start(&[]).await;
    task.send(&texts("a-", 100)).await;
    task.acks(100).await.expect("the producer works");
    kafka.freeze().expect("the broker is frozen");
    task.producer.end(TransactionEnd::Commit(Vec::new()));
    // Some calls for the commit run into their time-out meanwhile.
    let early = tokio::time::timeout(Duration::from_secs(4), poll_fn(|cx| task.producer.poll_end(cx))).await;
    assert!(early.is_err(), "{early:?}");
    kafka.thaw().expect("the broker goes on");
    task.ended().await.expect("it is committed");
    task.send(&texts("b-", 1)).await;
    task.commit("1").await.expect("it is committed");
    assert_eq!(rig.committed(), [texts("a-", 100), texts("b-", 1)].concat());
}

#[tokio::test]
async fn a_topic_that_is_deleted_under_a_transaction_ends_it() {
    let rig = Rig::new(strict_broker());
    let settings = [("x.transaction.timeout.ms", "8000"), ("x.topic.metadata.propagation.max.ms", "2000")];
    let mut task = rig.start(&settings).await;
    task.send(&texts("a-", 10)).await;
    task.acks(10).await.expect("the producer works");
    rig.cluster.delete_topic(&rig.topic);
    eventually_true("the topic is gone", PATIENCE, || rig.cluster.partitions(&rig.topic).is_none());
    task.send(&texts("b-", 10)).await;
    let ended = task.commit("1").await;
    let (Err(TransactionError::Abortable(why)) | Err(TransactionError::Fatal(why))) = &ended else {
        panic!("{ended:?}")
    };
    assert!(why.to_string().contains(&rig.topic) || why.to_string().contains(&rig.id), "{why}");
    if matches!(ended, Err(TransactionError::Abortable(_))) {
        // The broker may know no transaction any more.
        let aborted = task.end(TransactionEnd::Abort).await;
        assert!(matches!(aborted, Ok(()) | Err(TransactionError::Fatal(_))), "{aborted:?}");
    }
    assert!(rig.committed_offsets().is_empty());
}

#[tokio::test]
async fn a_record_that_the_topic_does_not_take_is_told_and_its_neighbours_go_in_a_later_transaction() {
    let rig = Rig::new(Cluster::shared());
    let small = unique("transactions-small");
    rig.cluster.create_topic(&small, 1, &[("max.message.bytes", "10000")]);
    let mut task = rig.start(&[]).await;
    task.topic.clone_from(&small);
    let neighbours = texts("n-", 2);
    task.send(&[neighbours[0].clone(), "x".repeat(20_000), neighbours[1].clone()]).await;
    let (_, errors) = task.acks(3).await.expect("the producer works");
    assert!(errors.iter().any(|error| error.to_string().contains("`max.message.bytes`")), "{errors:?}");
    let refused = task.commit("1").await;
    assert!(matches!(refused, Err(TransactionError::Abortable(_))), "{refused:?}");
    task.end(TransactionEnd::Abort).await.expect("it is aborted");
    // The client needs one more transaction to find its sequence numbers again: the task tries again in any case.
    let mut tries = 0;
    loop {
        tries += 1;
        task.send(&neighbours).await;
        match task.commit("2").await {
            Ok(()) => break,
            Err(TransactionError::Abortable(_)) if tries < 3 => {
                task.end(TransactionEnd::Abort).await.expect("it is aborted");
            }
            Err(error) => panic!("try {tries}: {error:?}"),
        }
    }
    assert_eq!(rig.cluster.read_texts(&small), neighbours);
    assert_eq!(rig.committed_offsets().len(), 1);
}

#[tokio::test]
async fn fifty_ids_with_open_transactions_are_fenced_in_seconds() {
    const N: usize = 50;
    let rig = Rig::new(Cluster::shared());
    let ids: Vec<String> = (0..N).map(|n| format!("{}-{n}", rig.id)).collect();
    let mut tasks = Vec::new();
    for id in &ids {
        let mut task = rig.start_as(id, &[]).await;
        task.send(&texts("zombie-", 1)).await;
        task.acks(1).await.expect("the producer works");
        tasks.push(task);
    }
    let start = Instant::now();
    in_time(fence(&rig.config("none", &[]), ids.clone())).await.expect("all are fenced");
    let took = start.elapsed();
    println!("{N} ids with open transactions fenced in {took:?}");
    assert!(took < Duration::from_secs(15), "{took:?}");
    for (task, id) in tasks.iter_mut().zip(&ids) {
        let why = task.fatal(TransactionEnd::Commit(Vec::new())).await;
        assert!(why.contains(&format!("`{id}`")), "{why}");
    }
    assert_eq!(rig.committed(), Vec::<String>::new());
}

#[tokio::test]
async fn a_task_that_goes_holds_up_no_reader() {
    let rig = Rig::new(Cluster::shared());
    let mut task = rig.start(&[]).await;
    task.send(&texts("lost-", 10)).await;
    task.acks(10).await.expect("the producer works");
    let start = Instant::now();
    drop(task);
    assert!(start.elapsed() < Duration::from_millis(100), "the task waits for nothing");
    // The transaction itself would time out after a minute.
    rig.wait_for_readers(Duration::from_secs(10));
    assert_eq!(rig.committed(), ["end"]);
}
