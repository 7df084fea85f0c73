//! Producers against the mock cluster: acknowledgements, refused records, back-pressure, failing brokers, closed tasks.

use std::{
    future::poll_fn,
    sync::Arc,
    time::{Duration, Instant},
};

use connect_sdk::task::ports::{ProduceRecord, Slice};
use rdkafka_sys::{RDKafkaApiKey, RDKafkaRespErr};

use super::*;
use crate::kafka::{ClientKind, DevBroker};

const PATIENCE: Duration = Duration::from_secs(30);

struct Fixture {
    broker: DevBroker,
    pool: ProducerPool,
}

impl Fixture {
    fn new() -> Self {
        Self { broker: DevBroker::start().unwrap(), pool: ProducerPool::new() }
    }

    fn config(&self, entries: &[(&str, &str)]) -> ClientConfig {
        let config = ClientConfig::builder(ClientKind::Producer)
            .set("bootstrap.servers", self.broker.bootstrap_servers())
            .set("client.id", "test")
            .prefixed("x.", entries.iter().copied());
        config.build().unwrap().0
    }

    fn producer(&self, entries: &[(&str, &str)]) -> TaskProducer {
        self.pool.producer(&self.config(entries)).unwrap()
    }
}

/// `n` records of `size` bytes for partition 0 of topic `t`.
fn batch(first_seq: u64, n: usize, size: usize) -> ProduceBatch {
    let mut batch = ProduceBatch { first_seq, topics: vec!["t".into()], ..ProduceBatch::default() };
    batch.buffers[0] = vec![b'x'; size];
    let value = Slice { buffer: 0, start: 0, len: u32::try_from(size).unwrap() };
    let record =
        ProduceRecord { topic: 0, partition: Some(0), timestamp: None, key: None, value: Some(value), headers: (0, 0) };
    batch.records = vec![record; n];
    batch
}

async fn send(producer: &mut TaskProducer, batch: ProduceBatch) -> Result<(), TaskError> {
    let mut batch = Some(batch);
    poll_fn(|cx| producer.poll_send(cx, &mut batch)).await
}

/// Reads acknowledgements until `n` records have one; the sequence numbers that were delivered, and the failures.
async fn acks(producer: &mut TaskProducer, n: usize) -> (Vec<u64>, Vec<(u64, String)>) {
    let (mut delivered, mut failed, mut acks) = (Vec::new(), Vec::new(), Vec::new());
    while delivered.len() + failed.len() < n {
        let next = poll_fn(|cx| producer.poll_acks(cx, &mut acks));
        tokio::time::timeout(PATIENCE, next).await.expect("acknowledgements come").unwrap();
        for ack in acks.drain(..) {
            match ack {
                Ack::Delivered { first, n } => delivered.extend(first..first + u64::from(n)),
                Ack::Failed { first, n, error } => {
                    failed.extend((first..first + u64::from(n)).map(|seq| (seq, error.to_string())));
                }
            }
        }
    }
    (delivered, failed)
}

#[tokio::test]
async fn every_record_is_acknowledged_once_and_in_order() {
    let fixture = Fixture::new();
    let mut producer = fixture.producer(&[]);
    for first in (0..10_000).step_by(1000) {
        send(&mut producer, batch(first, 1000, 100)).await.unwrap();
    }
    let (delivered, failed) = acks(&mut producer, 10_000).await;
    assert!(failed.is_empty());
    assert_eq!(delivered, (0..10_000).collect::<Vec<_>>());
    assert!(producer.reclaim().is_some_and(|buffer| buffer.is_empty() && buffer.capacity() >= 100));
}

#[tokio::test]
async fn headers_timestamps_nulls_and_keys_are_taken() {
    let fixture = Fixture::new();
    let mut producer = fixture.producer(&[]);
    let mut batch = batch(0, 4, 10);
    batch.buffers[1] = b"\xff\xfename".to_vec();
    batch.headers = vec![
        (Slice { buffer: 1, start: 0, len: 6 }, Some(Slice { buffer: 1, start: 0, len: 2 })),
        (Slice { buffer: 1, start: 2, len: 4 }, None),
    ];
    batch.records[0].headers = (0, 2);
    batch.records[1].timestamp = Some(1234);
    batch.records[2].value = None;
    batch.records[3].key = Some(Slice { buffer: 1, start: 2, len: 0 });
    send(&mut producer, batch).await.unwrap();
    assert_eq!(acks(&mut producer, 4).await, (vec![0, 1, 2, 3], Vec::new()));
}

#[tokio::test]
async fn tasks_with_equal_settings_share_a_client_and_keep_their_acknowledgements_apart() {
    let fixture = Fixture::new();
    let mut a = fixture.producer(&[]);
    let mut b = fixture.producer(&[]);
    let other = fixture.producer(&[("x.linger.ms", "7")]);
    assert!(Arc::ptr_eq(&a.handle, &b.handle) && !Arc::ptr_eq(&a.handle, &other.handle));
    send(&mut a, batch(0, 500, 10)).await.unwrap();
    send(&mut b, batch(0, 300, 10)).await.unwrap();
    send(&mut a, batch(500, 1, 10)).await.unwrap();
    assert_eq!(acks(&mut a, 501).await.0.len(), 501);
    assert_eq!(acks(&mut b, 300).await.0, (0..300).collect::<Vec<_>>());

    // A task that starts again has a slot of its own: what its predecessor left under way is none of its business.
    send(&mut a, batch(501, 1000, 10)).await.unwrap();
    drop(a);
    let mut again = fixture.producer(&[]);
    send(&mut again, batch(0, 2, 10)).await.unwrap();
    assert_eq!(acks(&mut again, 2).await.0, [0, 1]);
    drop((b, again));
    let fresh = fixture.producer(&[]);
    assert_eq!(Arc::strong_count(&fresh.handle), 1, "the client has ended with its last task");
}

#[tokio::test]
async fn a_record_above_the_limit_is_refused_alone() {
    let fixture = Fixture::new();
    let mut producer = fixture.producer(&[("x.max.request.size", "5000")]);
    let mut batch = batch(0, 5, 6000);
    for at in [0, 1, 3, 4] {
        batch.records[at].value = Some(Slice { buffer: 0, start: 0, len: 4000 });
    }
    send(&mut producer, batch).await.unwrap();
    let (delivered, failed) = acks(&mut producer, 5).await;
    assert_eq!(delivered, [0, 1, 3, 4]);
    assert_eq!(failed.len(), 1);
    let (seq, text) = &failed[0];
    assert_eq!(*seq, 2);
    for word in ["6000", "5000", "`t`", "`max.request.size`", "`max.message.bytes`"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[tokio::test]
async fn what_the_broker_refuses_is_told_and_later_records_go_on() {
    let fixture = Fixture::new();
    fixture.broker.create_topic("t", 1).unwrap();
    let mut producer = fixture.producer(&[("x.linger.ms", "0")]);
    send(&mut producer, batch(0, 1, 10)).await.unwrap();
    assert_eq!(acks(&mut producer, 1).await.0, [0]);
    fixture.broker.with_cluster(|cluster| {
        cluster.request_errors(RDKafkaApiKey::Produce, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE]);
    });
    send(&mut producer, batch(1, 1, 10)).await.unwrap();
    let (_, failed) = acks(&mut producer, 1).await;
    assert!(failed[0].0 == 1 && failed[0].1.contains("partition 0 of topic `t`"), "{failed:?}");
    send(&mut producer, batch(2, 1, 10)).await.unwrap();
    assert_eq!(acks(&mut producer, 1).await.0, [2]);
}

#[tokio::test]
async fn a_broker_that_is_away_costs_time_but_no_record() {
    let fixture = Fixture::new();
    fixture.broker.create_topic("t", 1).unwrap();
    let mut producer = fixture.producer(&[("x.reconnect.backoff.max.ms", "50"), ("x.reconnect.backoff.ms", "50")]);
    send(&mut producer, batch(0, 10, 10)).await.unwrap();
    acks(&mut producer, 10).await;
    fixture.broker.with_cluster(|cluster| {
        cluster.request_errors(
            RDKafkaApiKey::Produce,
            &[
                RDKafkaRespErr::RD_KAFKA_RESP_ERR__TRANSPORT,
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            ],
        );
        cluster.broker_down(-1).unwrap();
    });
    send(&mut producer, batch(10, 1000, 10)).await.unwrap();
    let mut none = Vec::new();
    let early = tokio::time::timeout(Duration::from_millis(200), poll_fn(|cx| producer.poll_acks(cx, &mut none))).await;
    assert!(early.is_err(), "nothing can be acknowledged while the broker is away");
    fixture.broker.with_cluster(|cluster| cluster.broker_up(-1).unwrap());
    let (delivered, failed) = acks(&mut producer, 1000).await;
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(delivered, (10..1010).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_full_buffer_holds_the_task_back_and_lets_everything_through_later() {
    let fixture = Fixture::new();
    fixture.broker.create_topic("t", 1).unwrap();
    let mut producer = fixture.producer(&[("x.buffer.memory", "100000")]);
    let mut sent = 0;
    let mut refused_once = false;
    let start = Instant::now();
    while sent < 20_000 && start.elapsed() < PATIENCE {
        let mut next = Some(batch(sent, 500, 1000));
        poll_fn(|cx| match producer.poll_send(cx, &mut next) {
            Poll::Pending => {
                refused_once = true;
                Poll::Pending
            }
            ready => ready,
        })
        .await
        .unwrap();
        sent += 500;
    }
    let (delivered, _) = acks(&mut producer, 20_000).await;
    assert!(refused_once, "the task was never held back");
    assert_eq!(delivered, (0..20_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_failed_client_tells_its_tasks_and_is_replaced() {
    let fixture = Fixture::new();
    fixture.broker.create_topic("t", 1).unwrap();
    let mut producer = fixture.producer(&[("x.linger.ms", "0")]);
    send(&mut producer, batch(0, 1, 10)).await.unwrap();
    acks(&mut producer, 1).await;
    fixture.broker.with_cluster(|cluster| {
        let code = RDKafkaRespErr::RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
        cluster.request_errors(RDKafkaApiKey::Produce, &[code]);
    });
    send(&mut producer, batch(1, 1, 10)).await.unwrap();
    let mut got = Vec::new();
    let failed = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Err(error) = poll_fn(|cx| producer.poll_acks(cx, &mut got)).await {
                return error;
            }
        }
    });
    let error = failed.await.expect("the failure is told");
    assert!(error.is_retriable(), "a new client helps: {error}");
    assert!(send(&mut producer, batch(2, 1, 10)).await.is_err());
    let mut next = fixture.producer(&[("x.linger.ms", "0")]);
    send(&mut next, batch(0, 1, 10)).await.unwrap();
    assert_eq!(acks(&mut next, 1).await.0, [0]);
}

#[tokio::test]
async fn a_hurry_does_not_wait_for_the_linger_time() {
    let fixture = Fixture::new();
    fixture.broker.create_topic("t", 1).unwrap();
    let mut producer = fixture.producer(&[("x.linger.ms", "60000"), ("x.delivery.timeout.ms", "100000")]);
    let start = Instant::now();
    for first in 0..5 {
        send(&mut producer, batch(first, 1, 10)).await.unwrap();
        producer.hurry();
        acks(&mut producer, 1).await;
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_lone_record_waits_for_the_operators_linger_time_and_not_for_the_clients() {
    let fixture = Fixture::new();
    fixture.broker.create_topic("t", 1).unwrap();
    let mut producer = fixture.producer(&[("x.linger.ms", "1")]);
    let mut fastest = Duration::MAX;
    for first in 0..50 {
        let start = Instant::now();
        send(&mut producer, batch(first, 1, 10)).await.unwrap();
        acks(&mut producer, 1).await;
        fastest = fastest.min(start.elapsed());
    }
    // The client's own is 50 ms.
    assert!(fastest < Duration::from_millis(30), "{fastest:?}");
}

#[tokio::test]
async fn a_topic_name_that_cannot_be_fails_its_task_only() {
    let fixture = Fixture::new();
    let mut bad = fixture.producer(&[]);
    let mut good = fixture.producer(&[]);
    let mut wrong = batch(0, 1, 1);
    wrong.topics = vec!["x".repeat(600).into()];
    send(&mut bad, wrong).await.unwrap();
    let mut got = Vec::new();
    let told = tokio::time::timeout(PATIENCE, poll_fn(|cx| bad.poll_acks(cx, &mut got))).await;
    assert!(told.expect("it is told").is_err());
    send(&mut good, batch(0, 1, 1)).await.unwrap();
    assert_eq!(acks(&mut good, 1).await.0, [0]);
}
