//! Consumers against the mock cluster: what is read, positions, pauses, commits, rebalances, late answers, closing.

use std::{
    future::poll_fn,
    time::{Duration, Instant},
};

use connect_sdk::task::ports::{Ack, ProduceBatch, ProduceRecord, RecordProducer, Slice};
use rdkafka_sys::{RDKafkaApiKey, RDKafkaRespErr};

use super::*;
use crate::kafka::{ClientKind, DevBroker, ProducerPool};
use rdkafka::error::RDKafkaErrorCode as Code;

const PATIENCE: Duration = Duration::from_secs(30);

struct Fixture {
    broker: DevBroker,
    pool: ProducerPool,
}

impl Fixture {
    fn new(partitions: i32) -> Self {
        let broker = DevBroker::start().unwrap();
        broker.create_topic("t", partitions).unwrap();
        Self { broker, pool: ProducerPool::new() }
    }

    fn config(&self, kind: ClientKind, entries: &[(&str, &str)]) -> ClientConfig {
        let mut config = ClientConfig::builder(kind)
            .set("bootstrap.servers", self.broker.bootstrap_servers())
            .set("client.id", "test");
        if kind == ClientKind::Consumer {
            // The mock cluster answers a changed group one second before a session of this length would end.
            config = config
                .set("group.id", "connect-test")
                .set("session.timeout.ms", "2000")
                .set("heartbeat.interval.ms", "300");
        }
        config.prefixed("x.", entries.iter().copied()).build().unwrap().0
    }

    fn consumer(&self, entries: &[(&str, &str)]) -> Driver {
        let topics = Subscription::Topics(vec!["t".to_owned()]);
        Driver::new(TaskConsumer::start(&self.config(ClientKind::Consumer, entries), topics).unwrap())
    }

    /// Writes `n` records with the values `from..` to a partition of a topic.
    async fn fill(&self, topic: &str, partition: i32, from: u64, n: u64) {
        let mut batch = ProduceBatch { topics: vec![topic.into()], ..ProduceBatch::default() };
        for value in from..from + n {
            let at = append(&mut batch, value.to_string().as_bytes());
            batch.records.push(ProduceRecord {
                topic: 0,
                partition: Some(partition),
                timestamp: None,
                key: None,
                value: Some(at),
                headers: (0, 0),
            });
        }
        self.produce(batch).await;
    }

    async fn produce(&self, batch: ProduceBatch) {
        let mut left = batch.records.len();
        let mut producer = self.pool.producer(&self.config(ClientKind::Producer, &[])).unwrap();
        let mut batch = Some(batch);
        poll_fn(|cx| producer.poll_send(cx, &mut batch)).await.unwrap();
        let mut acks = Vec::new();
        while left > 0 {
            poll_fn(|cx| producer.poll_acks(cx, &mut acks)).await.unwrap();
            for ack in acks.drain(..) {
                let Ack::Delivered { n, .. } = ack else { panic!("refused: {ack:?}") };
                left -= n as usize;
            }
        }
    }
}

fn append(batch: &mut ProduceBatch, bytes: &[u8]) -> Slice {
    let start = u32::try_from(batch.buffers[0].len()).unwrap();
    batch.buffers[0].extend_from_slice(bytes);
    Slice { buffer: 0, start, len: u32::try_from(bytes.len()).unwrap() }
}

/// A consumer whose assignments are answered as they come.
struct Driver {
    consumer: TaskConsumer,
    owned: Vec<Arc<TopicPartition>>,
    /// Start offsets that the task wants.
    start: Option<i64>,
}

impl Driver {
    fn new(consumer: TaskConsumer) -> Self {
        Self { consumer, owned: Vec::new(), start: None }
    }

    async fn event(&mut self) -> Result<ConsumerEvent, TaskError> {
        let event = poll_fn(|cx| self.consumer.poll_event(cx));
        tokio::time::timeout(PATIENCE, event).await.expect("an event comes")
    }

    /// The next event that is no assignment; assignments are started.
    async fn next(&mut self) -> ConsumerEvent {
        loop {
            match self.event().await.unwrap() {
                ConsumerEvent::Assigned(mut from) => {
                    for (_, offset) in &mut from {
                        *offset = self.start.unwrap_or(*offset);
                    }
                    self.owned.extend(from.iter().map(|(partition, _)| Arc::clone(partition)));
                    self.consumer.start(from);
                }
                other => return other,
            }
        }
    }

    /// Partition and value of the next `n` records.
    async fn records(&mut self, n: usize) -> Vec<(i32, u64)> {
        let mut records = Vec::new();
        while records.len() < n {
            match self.next().await {
                ConsumerEvent::Records(batch) => records.extend(values(&batch)),
                other => panic!("{other:?} instead of records"),
            }
        }
        records
    }

    async fn nothing_for(&mut self, time: Duration) {
        let event = tokio::time::timeout(time, self.next()).await;
        assert!(event.is_err(), "{event:?}");
    }
}

fn values(batch: &ConsumedBatch) -> Vec<(i32, u64)> {
    let value = |at| String::from_utf8(batch.bytes(at).to_vec()).unwrap().parse().unwrap();
    let record = |record: &connect_sdk::task::ports::ConsumedRecord| {
        (batch.partitions[record.partition as usize].partition, value(record.value.unwrap()))
    };
    batch.records.iter().map(record).collect()
}

fn p(partition: i32) -> Arc<TopicPartition> {
    Arc::new(TopicPartition::new("t", partition))
}

fn sequence(partition: i32, range: std::ops::Range<u64>) -> Vec<(i32, u64)> {
    range.map(|value| (partition, value)).collect()
}

#[tokio::test]
async fn records_come_whole_and_in_order_and_commits_are_where_the_next_begins() {
    let fixture = Fixture::new(2);
    fixture.fill("t", 0, 0, 5000).await;
    fixture.fill("t", 1, 0, 100).await;
    let mut consumer = fixture.consumer(&[]);
    let records = consumer.records(5100).await;
    for (partition, n) in [(0, 5000), (1, 100)] {
        let of: Vec<_> = records.iter().filter(|(of, _)| *of == partition).copied().collect();
        assert_eq!(of, sequence(partition, 0..n));
    }
    consumer.consumer.commit(7, vec![(p(0), 4990), (p(1), 100)]);
    let ConsumerEvent::Committed { number: 7, result: Ok(()) } = consumer.next().await else { panic!("no commit") };
    consumer.consumer.commit_now(vec![(p(0), 4995)]).await.unwrap();
    let start = Instant::now();
    consumer.consumer.close().await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());

    let mut next = fixture.consumer(&[]);
    let ConsumerEvent::Assigned(mut from) = next.event().await.unwrap() else { panic!("no assignment") };
    from.sort();
    assert_eq!(from, [(p(0), 4995), (p(1), 100)]);
    next.consumer.start(from);
    assert_eq!(next.records(5).await, sequence(0, 4995..5000));
}

#[tokio::test]
async fn headers_nulls_and_timestamps_arrive_as_they_were_sent() {
    let fixture = Fixture::new(1);
    let mut batch = ProduceBatch { topics: vec!["t".into()], ..ProduceBatch::default() };
    let name = append(&mut batch, b"\xff\xfe");
    let value = append(&mut batch, b"v");
    let empty = append(&mut batch, b"");
    batch.headers = vec![(name, Some(value)), (value, None), (empty, Some(empty))];
    let record = ProduceRecord {
        topic: 0,
        partition: Some(0),
        timestamp: Some(1234),
        key: Some(empty),
        value: None,
        headers: (0, 3),
    };
    batch.records = vec![record.clone(), ProduceRecord { key: None, value: Some(empty), headers: (0, 0), ..record }];
    fixture.produce(batch).await;
    let mut consumer = fixture.consumer(&[]);
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let ConsumerEvent::Records(batch) = consumer.next().await else { panic!("no records") };
        for record in &batch.records {
            let range = record.headers.0 as usize..(record.headers.0 + record.headers.1) as usize;
            let headers: Vec<_> = batch.headers[range]
                .iter()
                .map(|(name, value)| (batch.bytes(*name).to_vec(), value.map(|at| batch.bytes(at).to_vec())))
                .collect();
            let bytes = |at: Option<(u32, u32)>| at.map(|at| batch.bytes(at).to_vec());
            seen.push((bytes(record.key), bytes(record.value), record.timestamp, headers));
        }
    }
    let headers = vec![(vec![0xff, 0xfe], Some(b"v".to_vec())), (b"v".to_vec(), None), (Vec::new(), Some(Vec::new()))];
    assert_eq!(seen[0], (Some(Vec::new()), None, Some(1234), headers));
    assert_eq!(seen[1], (None, Some(Vec::new()), Some(1234), Vec::new()));
}

#[tokio::test]
async fn a_pause_holds_records_back_and_a_resume_loses_none() {
    let fixture = Fixture::new(2);
    fixture.fill("t", 0, 0, 10).await;
    let mut consumer = fixture.consumer(&[]);
    assert_eq!(consumer.records(10).await, sequence(0, 0..10));
    for round in 1..4 {
        consumer.consumer.pause(vec![p(0)]);
        fixture.fill("t", 0, round * 10, 10).await;
        fixture.fill("t", 1, round, 1).await;
        assert_eq!(consumer.records(1).await, [(1, round)], "the other partition goes on");
        consumer.nothing_for(Duration::from_millis(300)).await;
        let start = Instant::now();
        consumer.consumer.resume(vec![p(0)]);
        assert_eq!(consumer.records(10).await, sequence(0, round * 10..round * 10 + 10));
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_pause_takes_waiting_records_along() {
    let fixture = Fixture::new(1);
    fixture.fill("t", 0, 0, 1000).await;
    let mut consumer = fixture.consumer(&[("x.max.poll.records", "10")]);
    let first = consumer.records(10).await;
    assert_eq!(first, sequence(0, 0..10));
    // Two more batches wait in the consumer by now, or are about to.
    consumer.consumer.pause(vec![p(0)]);
    let mut seen = first.len() as u64;
    while let Ok(event) = tokio::time::timeout(Duration::from_millis(300), consumer.next()).await {
        // A batch that was handed over before the pause was carried out.
        let ConsumerEvent::Records(batch) = event else { panic!("{event:?}") };
        assert_eq!(values(&batch), sequence(0, seen..seen + batch.records.len() as u64));
        seen += batch.records.len() as u64;
    }
    assert!(seen < 1000);
    consumer.consumer.resume(vec![p(0)]);
    assert_eq!(consumer.records(usize::try_from(1000 - seen).unwrap()).await, sequence(0, seen..1000));
}

#[tokio::test]
async fn after_a_seek_nothing_of_before_is_delivered() {
    let fixture = Fixture::new(1);
    fixture.fill("t", 0, 0, 2000).await;
    let mut consumer = fixture.consumer(&[("x.max.poll.records", "50")]);
    for to in [0, 500, 100, 1900, 3] {
        assert!(!consumer.records(50).await.is_empty());
        consumer.consumer.seek(vec![(p(0), to)]);
        let next = consumer.records(1).await;
        assert_eq!(next[0], (0, u64::try_from(to).unwrap()), "the first record after the seek");
    }
}

#[tokio::test]
async fn the_task_may_start_elsewhere() {
    let fixture = Fixture::new(1);
    fixture.fill("t", 0, 0, 100).await;
    let mut consumer = fixture.consumer(&[]);
    consumer.start = Some(90);
    assert_eq!(consumer.records(10).await, sequence(0, 90..100));
    let mut latest = fixture.consumer(&[("x.group.id", "other"), ("x.auto.offset.reset", "latest")]);
    let ConsumerEvent::Assigned(from) = latest.event().await.unwrap() else { panic!("no assignment") };
    assert_eq!(from, [(p(0), 100)]);
}

#[tokio::test]
async fn no_committed_offset_is_an_error_if_the_task_wants_one() {
    let fixture = Fixture::new(1);
    let mut consumer = fixture.consumer(&[("x.auto.offset.reset", "none")]);
    let error = consumer.event().await.unwrap_err();
    assert!(!error.is_retriable() && error.to_string().contains("no committed offset for `t-0`"), "{error}");
    consumer.consumer.close().await;
}

#[tokio::test]
async fn a_failed_commit_is_told_and_the_next_one_passes() {
    let fixture = Fixture::new(1);
    fixture.fill("t", 0, 0, 1).await;
    let mut consumer = fixture.consumer(&[]);
    consumer.records(1).await;
    fixture.broker.with_cluster(|cluster| {
        cluster.request_errors(RDKafkaApiKey::OffsetCommit, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION]);
    });
    consumer.consumer.commit(1, vec![(p(0), 1)]);
    loop {
        match consumer.next().await {
            ConsumerEvent::Committed { number: 1, result } => {
                let error = result.unwrap_err();
                assert!(error.is_retriable() && error.to_string().contains("offset 1 of `t-0`"), "{error}");
                break;
            }
            // The broker's answer makes the client join anew.
            ConsumerEvent::Lost(_) | ConsumerEvent::Records(_) => {}
            ConsumerEvent::Revoked(_) => consumer.consumer.released(),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn topics_that_match_are_read_as_they_come() {
    let fixture = Fixture::new(1);
    fixture.broker.create_topic("orders-1", 1).unwrap();
    fixture.fill("orders-1", 0, 0, 1).await;
    let config = fixture.config(ClientKind::Consumer, &[("x.metadata.max.age.ms", "200")]);
    let matching = Subscription::Matching(Box::new(|topic| topic.starts_with("orders-")));
    let mut consumer = Driver::new(TaskConsumer::start(&config, matching).unwrap());
    let seen = |event| match event {
        ConsumerEvent::Records(batch) => {
            Some(batch.partitions.iter().map(|partition| partition.topic.to_string()).collect::<Vec<_>>())
        }
        _ => None,
    };
    assert_eq!(seen(consumer.next().await), Some(vec!["orders-1".to_owned()]));
    fixture.broker.create_topic("orders-2", 1).unwrap();
    fixture.fill("orders-2", 0, 0, 1).await;
    loop {
        match consumer.next().await {
            ConsumerEvent::Revoked(_) => consumer.consumer.released(),
            ConsumerEvent::Lost(_) => {}
            event => {
                if seen(event).is_some_and(|topics| topics.contains(&"orders-2".to_owned())) {
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn an_assignment_that_is_not_answered_in_time_is_asked_for_again() {
    let fixture = Fixture::new(1);
    fixture.fill("t", 0, 0, 3).await;
    let entries =
        [("x.max.poll.interval.ms", "3000"), ("x.session.timeout.ms", "3000"), ("x.heartbeat.interval.ms", "500")];
    let mut consumer = fixture.consumer(&entries);
    let ConsumerEvent::Assigned(late) = consumer.event().await.unwrap() else { panic!("no assignment") };
    let again = loop {
        match consumer.event().await.unwrap() {
            ConsumerEvent::Assigned(again) => break again,
            ConsumerEvent::Revoked(_) => consumer.consumer.released(),
            ConsumerEvent::Lost(_) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(again, late);
    consumer.consumer.start(again);
    assert_eq!(consumer.records(3).await, sequence(0, 0..3));
}

#[tokio::test]
async fn a_dropped_consumer_leaves_the_group_by_itself() {
    let fixture = Fixture::new(1);
    fixture.fill("t", 0, 0, 1).await;
    let mut first = fixture.consumer(&[]);
    first.records(1).await;
    drop(first);
    let mut second = fixture.consumer(&[]);
    assert_eq!(second.records(1).await, sequence(0, 0..1));
}

#[tokio::test]
async fn a_consumer_whose_place_is_taken_loses_everything_and_says_who_has_it() {
    let fixture = Fixture::new(1);
    fixture.fill("t", 0, 0, 1).await;
    let mut consumer = fixture.consumer(&[("x.group.instance.id", "place")]);
    consumer.records(1).await;
    fixture.broker.with_cluster(|cluster| {
        cluster.request_errors(RDKafkaApiKey::OffsetCommit, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID]);
    });
    consumer.consumer.commit(1, vec![(p(0), 1)]);
    let mut lost = false;
    let error = loop {
        match consumer.event().await {
            Ok(ConsumerEvent::Lost(partitions)) => lost = partitions == [p(0)],
            Ok(ConsumerEvent::Committed { number: 1, result }) => assert!(result.is_err()),
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert!(lost, "told before the error");
    assert!(!error.is_retriable());
    assert!(error.to_string().contains("the place of this task, `place` in the group `connect-test`"), "{error}");
}

#[test]
fn a_consumer_of_the_newer_protocol_that_was_away_for_too_long_is_replaced_once() {
    let fixture = Fixture::new(1);
    let config = ClientConfig::builder(ClientKind::Consumer)
        .set("bootstrap.servers", fixture.broker.bootstrap_servers())
        .set("client.id", "test")
        .set("group.id", "connect-test")
        .set("group.protocol", "consumer")
        .instance_id("none of this protocol")
        .build()
        .unwrap()
        .0;
    assert_eq!(config.native("group.instance.id"), None);
    let client = Client::new(Role::Consumer, &config.entries).unwrap();
    let queue = client.consumer_queue().unwrap();
    let mut worker = Worker::new(Arc::default(), client, queue, config);
    worker.assigned.insert(p(0), worker::Assigned { next: 3, paused: false });
    let failed = |code| KafkaError::coded(code, "the client has failed", "").fatal();
    assert!(!worker.can_be_renewed(&failed(Code::TopicAuthorizationFailed)));
    let away = failed(Code::InvalidRequest);
    assert!(worker.can_be_renewed(&away));
    worker.renew(&away).unwrap();
    assert!(worker.assigned.is_empty());
    let told = worker.shared.lock().control.pop_front();
    assert!(matches!(told, Some(ConsumerEvent::Lost(partitions)) if partitions == [p(0)]));
    assert!(!worker.can_be_renewed(&away), "not again and again");
}
