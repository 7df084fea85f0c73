//! Transactional producers against the mock cluster, which knows transactions in form only: what is committed and what is
//! seen is shown on a real broker.

use std::{
    future::poll_fn,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use connect_sdk::{
    source::{FieldMap, FieldValue},
    task::ports::{ProduceRecord, Slice},
};
use rdkafka_sys::{RDKafkaApiKey, RDKafkaRespErr};

use super::{super::fence::fence_within, *};
use crate::kafka::{ClientKind, DevBroker, fence};

const PATIENCE: Duration = Duration::from_secs(30);
const ID: &str = "group-connector-0";

/// Offsets under fixed keys; notes what was committed.
#[derive(Default)]
struct Offsets {
    panics: AtomicBool,
    committed: Mutex<Vec<Vec<(PartitionMap, OffsetMap)>>>,
}

impl OffsetRecords for Offsets {
    fn topic(&self) -> &str {
        "offsets"
    }

    fn records(&self, offsets: &[(PartitionMap, OffsetMap)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        assert!(!self.panics.load(Ordering::Relaxed), "as the test wants it");
        offsets.iter().map(|(p, o)| (format!("{p:?}").into_bytes(), format!("{o:?}").into_bytes())).collect()
    }

    fn committed(&self, offsets: Vec<(PartitionMap, OffsetMap)>) {
        lock(&self.committed).push(offsets);
    }
}

struct Fixture {
    broker: DevBroker,
    offsets: Arc<Offsets>,
}

impl Fixture {
    fn new() -> Self {
        let broker = DevBroker::start().unwrap();
        broker.create_topic("t", 1).unwrap();
        broker.create_topic("offsets", 1).unwrap();
        Self { broker, offsets: Arc::default() }
    }

    fn config(&self, entries: &[(&str, &str)]) -> ClientConfig {
        let config = ClientConfig::builder(ClientKind::Producer)
            .set("bootstrap.servers", self.broker.bootstrap_servers())
            .set("client.id", "test")
            .prefixed("x.", entries.iter().copied())
            .transactional(ID);
        config.build().unwrap().0
    }

    async fn started(&self, entries: &[(&str, &str)]) -> TransactionalTaskProducer {
        let offsets = Arc::clone(&self.offsets) as Arc<dyn OffsetRecords>;
        let mut producer = TransactionalTaskProducer::start(&self.config(entries), offsets).unwrap();
        in_time(poll_fn(|cx| producer.poll_start(cx))).await.unwrap();
        producer
    }

    fn fail(&self, api: RDKafkaApiKey, errors: &[RDKafkaRespErr]) {
        self.broker.with_cluster(|cluster| cluster.request_errors(api, errors));
    }
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("an answer comes in time")
}

fn offset(n: i64) -> Vec<(PartitionMap, OffsetMap)> {
    let of = |name: &'static str, n| FieldMap::new().with(name, FieldValue::Int(n));
    vec![(of("file", 1), of("position", n))]
}

/// `n` records of ten bytes for partition 0 of topic `t`.
fn batch(first_seq: u64, n: usize) -> ProduceBatch {
    let value = Some(Slice { buffer: 0, start: 0, len: 10 });
    let record = ProduceRecord { topic: 0, partition: Some(0), timestamp: None, key: None, value, headers: (0, 0) };
    ProduceBatch {
        first_seq,
        buffers: [vec![b'x'; 10], Vec::new()],
        topics: vec!["t".into()],
        records: vec![record; n],
        headers: Vec::new(),
    }
}

async fn send(producer: &mut TransactionalTaskProducer, first_seq: u64, n: usize) {
    let mut batch = Some(batch(first_seq, n));
    in_time(poll_fn(|cx| producer.poll_send(cx, &mut batch))).await.unwrap();
}

async fn end(producer: &mut TransactionalTaskProducer, how: TransactionEnd) -> Result<(), TransactionError> {
    producer.end(how);
    in_time(poll_fn(|cx| producer.poll_end(cx))).await
}

#[tokio::test]
async fn offsets_are_told_as_committed_in_the_order_of_their_transactions() {
    let fixture = Fixture::new();
    let mut producer = fixture.started(&[]).await;
    for n in 0..3_u64 {
        send(&mut producer, n * 100, 100).await;
        end(&mut producer, TransactionEnd::Commit(offset(n.cast_signed()))).await.unwrap();
    }
    end(&mut producer, TransactionEnd::Commit(Vec::new())).await.unwrap();
    assert_eq!(*lock(&fixture.offsets.committed), [offset(0), offset(1), offset(2)]);
    let mut acks = Vec::new();
    poll_fn(|cx| producer.poll_acks(cx, &mut acks)).await.unwrap();
    let n: u32 = acks.iter().map(|ack| if let Ack::Delivered { n, .. } = ack { *n } else { 0 }).sum();
    assert_eq!(n, 300, "those of offset records are not told: {acks:?}");
}

#[tokio::test]
async fn ids_that_are_left_when_time_is_up_are_named() {
    let fixture = Fixture::new();
    fixture.broker.with_cluster(|cluster| cluster.broker_down(-1).unwrap());
    let ids = (0..20).map(|n| format!("g-c-{n}")).collect();
    let error = in_time(fence_within(&fixture.config(&[]), ids, Duration::from_secs(1))).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Retriable);
    let text = error.to_string();
    assert!(text.contains("within 1 s") && (0..20).all(|n| text.contains(&format!("`g-c-{n}`"))), "{text}");
}

#[tokio::test]
async fn several_ids_are_fenced() {
    let fixture = Fixture::new();
    let ids = (0..40).map(|n| format!("g-c-{n}")).collect();
    in_time(fence(&fixture.config(&[]), ids)).await.unwrap();
}

/// Reads acknowledgements until one of a failure comes.
async fn failure(producer: &mut TransactionalTaskProducer) -> Arc<TaskError> {
    let mut acks = Vec::new();
    loop {
        in_time(poll_fn(|cx| producer.poll_acks(cx, &mut acks))).await.unwrap();
        let failed =
            acks.drain(..).find_map(|ack| if let Ack::Failed { error, .. } = ack { Some(error) } else { None });
        if let Some(failed) = failed {
            return failed;
        }
    }
}

#[tokio::test]
async fn what_is_aborted_gets_no_acknowledgement_any_more_and_the_next_transaction_works() {
    let fixture = Fixture::new();
    // A linger time so long that nothing is sent before the end.
    let mut producer = fixture.started(&[("x.linger.ms", "20000")]).await;
    send(&mut producer, 0, 1000).await;
    end(&mut producer, TransactionEnd::Abort).await.unwrap();
    let mut acks = Vec::new();
    let none = tokio::time::timeout(Duration::from_millis(50), poll_fn(|cx| producer.poll_acks(cx, &mut acks))).await;
    assert!(none.is_err(), "{acks:?}");
    end(&mut producer, TransactionEnd::Abort).await.unwrap();
    send(&mut producer, 1000, 10).await;
    end(&mut producer, TransactionEnd::Commit(offset(1))).await.unwrap();
    poll_fn(|cx| producer.poll_acks(cx, &mut acks)).await.unwrap();
    assert!(matches!(acks[..], [Ack::Delivered { first: 1000, n: 10 }]), "{acks:?}");
}

#[tokio::test]
async fn a_partition_that_may_not_be_written_fails_the_transaction_and_says_why() {
    let fixture = Fixture::new();
    let mut producer = fixture.started(&[]).await;
    fixture.fail(RDKafkaApiKey::AddPartitionsToTxn, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED]);
    send(&mut producer, 0, 10).await;
    let told = failure(&mut producer).await;
    assert!(!told.is_retriable(), "it does not pass by itself: {told}");
    assert!(told.to_string().contains("authorization failed"), "{told}");
    let ended = end(&mut producer, TransactionEnd::Commit(offset(1))).await;
    let Err(TransactionError::Abortable(error)) = ended else { panic!("{ended:?}") };
    assert!(error.to_string().contains("authorization failed"), "{error}");
    assert!(lock(&fixture.offsets.committed).is_empty());
    end(&mut producer, TransactionEnd::Abort).await.unwrap();
    send(&mut producer, 10, 10).await;
    end(&mut producer, TransactionEnd::Commit(offset(2))).await.unwrap();
    assert_eq!(*lock(&fixture.offsets.committed), [offset(2)]);
}

#[tokio::test]
async fn a_record_above_the_limit_spoils_its_transaction_only() {
    let fixture = Fixture::new();
    let mut producer = fixture.started(&[("x.max.request.size", "5000")]).await;
    let mut large = batch(0, 3);
    large.buffers[0] = vec![b'x'; 6000];
    large.records[1].value = Some(Slice { buffer: 0, start: 0, len: 6000 });
    let mut large = Some(large);
    in_time(poll_fn(|cx| producer.poll_send(cx, &mut large))).await.unwrap();
    let told = failure(&mut producer).await;
    assert!(!told.is_retriable() && told.to_string().contains("`max.request.size`"), "{told}");
    for n in 0..2 {
        let ended = end(&mut producer, TransactionEnd::Commit(offset(1))).await;
        assert!(matches!(ended, Err(TransactionError::Abortable(_))), "{n}: nothing but an abort helps: {ended:?}");
    }
    end(&mut producer, TransactionEnd::Abort).await.unwrap();
    send(&mut producer, 3, 2).await;
    end(&mut producer, TransactionEnd::Commit(offset(2))).await.unwrap();
}

#[tokio::test]
async fn a_fenced_producer_is_told_so_and_writes_nothing_any_more() {
    let fixture = Fixture::new();
    let mut producer = fixture.started(&[]).await;
    fixture.fail(RDKafkaApiKey::EndTxn, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_PRODUCER_FENCED]);
    send(&mut producer, 0, 10).await;
    let ended = end(&mut producer, TransactionEnd::Commit(offset(1))).await;
    let Err(TransactionError::Fatal(error)) = ended else { panic!("{ended:?}") };
    assert!(
        error.to_string().contains("another producer has taken the transactional id `group-connector-0`"),
        "{error}"
    );
    assert!(!error.is_retriable());
    let mut next = Some(batch(10, 1));
    assert!(poll_fn(|cx| producer.poll_send(cx, &mut next)).await.is_err());
    for how in [TransactionEnd::Abort, TransactionEnd::Commit(offset(1))] {
        assert!(matches!(end(&mut producer, how).await, Err(TransactionError::Fatal(_))));
    }
    assert!(lock(&fixture.offsets.committed).is_empty());
}

#[tokio::test]
async fn an_id_that_may_not_be_had_fails_the_start() {
    let fixture = Fixture::new();
    let code = RDKafkaRespErr::RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
    fixture.fail(RDKafkaApiKey::InitProducerId, &[code, code]);
    let offsets = Arc::clone(&fixture.offsets) as Arc<dyn OffsetRecords>;
    let mut producer = TransactionalTaskProducer::start(&fixture.config(&[]), offsets).unwrap();
    let error = in_time(poll_fn(|cx| producer.poll_start(cx))).await.unwrap_err();
    assert!(error.to_string().contains(ID) && error.to_string().contains("authorization"), "{error}");
    fixture.fail(RDKafkaApiKey::InitProducerId, &[code]);
    let error = in_time(fence(&fixture.config(&[]), vec!["g-c-7".to_owned()])).await.unwrap_err();
    assert!(error.to_string().contains("`g-c-7`") && error.to_string().contains("authorization"), "{error}");
}

#[tokio::test]
async fn a_broker_that_is_away_delays_start_and_commit_but_loses_nothing() {
    let fixture = Fixture::new();
    let quick = [("x.reconnect.backoff.max.ms", "50"), ("x.reconnect.backoff.ms", "50")];
    let offsets = Arc::clone(&fixture.offsets) as Arc<dyn OffsetRecords>;
    fixture.broker.with_cluster(|cluster| cluster.broker_down(-1).unwrap());
    let mut producer = TransactionalTaskProducer::start(&fixture.config(&quick), offsets).unwrap();
    let early = tokio::time::timeout(Duration::from_millis(300), poll_fn(|cx| producer.poll_start(cx))).await;
    assert!(early.is_err(), "nothing can be had from a broker that is away");
    fixture.broker.with_cluster(|cluster| cluster.broker_up(-1).unwrap());
    in_time(poll_fn(|cx| producer.poll_start(cx))).await.unwrap();

    send(&mut producer, 0, 10).await;
    let mut acks = Vec::new();
    in_time(poll_fn(|cx| producer.poll_acks(cx, &mut acks))).await.unwrap();
    fixture.broker.with_cluster(|cluster| cluster.broker_down(-1).unwrap());
    producer.end(TransactionEnd::Commit(Vec::new()));
    // Longer than one call for the commit: it is resumed.
    let early = tokio::time::timeout(Duration::from_millis(1500), poll_fn(|cx| producer.poll_end(cx))).await;
    assert!(early.is_err(), "{early:?}");
    fixture.broker.with_cluster(|cluster| cluster.broker_up(-1).unwrap());
    in_time(poll_fn(|cx| producer.poll_end(cx))).await.unwrap();
    send(&mut producer, 10, 10).await;
    end(&mut producer, TransactionEnd::Commit(offset(1))).await.unwrap();
}

#[tokio::test]
async fn a_panic_of_the_thread_fails_the_task_and_leaves_nobody_waiting() {
    let fixture = Fixture::new();
    let mut producer = fixture.started(&[]).await;
    send(&mut producer, 0, 10).await;
    fixture.offsets.panics.store(true, Ordering::Relaxed);
    let ended = end(&mut producer, TransactionEnd::Commit(offset(1))).await;
    assert!(matches!(ended, Err(TransactionError::Fatal(_))), "{ended:?}");
    assert!(lock(&fixture.offsets.committed).is_empty());
}
