//! Goal: the Kafka clients keep their promises on a real broker. Method: producers, consumers and logs of the worker
//! without a worker, against the shared broker.
#![forbid(unsafe_code)]

use connect_runtime::kafka::{
    ClientConfig, ClientKind, Created, ErrorClass, KafkaAdmin, KafkaLog, LogClients, LogRecord, ProducerPool,
    Subscription, TaskConsumer, TopicAdmin, TopicSpec,
};
use connect_sdk::{
    sink::TopicPartition,
    task::ports::{
        Ack, ConsumedBatch, ConsumerEvent, ProduceBatch, ProduceRecord, RecordConsumer, RecordProducer, Slice,
    },
};
use connect_tests::{Cluster, unique};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::{
    collections::BTreeMap,
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// The last value of every key.
type Seen = Arc<Mutex<BTreeMap<Vec<u8>, Option<Vec<u8>>>>>;

/// Longer than the poll interval and the session of the test that uses it.
const BUSY: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_secs(60);

fn config(cluster: &Cluster, kind: ClientKind, entries: &[(&str, &str)]) -> ClientConfig {
    let builder = ClientConfig::builder(kind).set("bootstrap.servers", cluster.bootstrap()).set("client.id", "test");
    builder.prefixed("x.", entries.iter().copied()).build().expect("the settings are right").0
}

/// Writes the numbers `range` to the topic, each to the partition that is its remainder by `partitions`.
async fn fill(cluster: &Cluster, topic: &str, partitions: i32, range: std::ops::Range<i32>) {
    let pool = ProducerPool::new();
    let mut producer = pool.producer(&config(cluster, ClientKind::Producer, &[])).expect("a producer starts");
    let (mut seq, mut acked) = (0, 0);
    let mut numbers = range.peekable();
    let mut acks = Vec::new();
    while numbers.peek().is_some() || acked < seq {
        if numbers.peek().is_some() {
            let mut batch = ProduceBatch { first_seq: seq, topics: vec![topic.into()], ..ProduceBatch::default() };
            for number in numbers.by_ref().take(2000) {
                let text = number.to_string();
                let start = u32::try_from(batch.buffers[0].len()).expect("small");
                batch.buffers[0].extend_from_slice(text.as_bytes());
                batch.records.push(ProduceRecord {
                    topic: 0,
                    partition: Some(number % partitions),
                    timestamp: None,
                    key: None,
                    value: Some(Slice { buffer: 0, start, len: u32::try_from(text.len()).expect("small") }),
                    headers: (0, 0),
                });
            }
            seq += batch.records.len() as u64;
            let mut batch = Some(batch);
            poll_fn(|cx| producer.poll_send(cx, &mut batch)).await.expect("the batch is taken");
        } else {
            poll_fn(|cx| producer.poll_acks(cx, &mut acks)).await.expect("the producer works");
            for ack in acks.drain(..) {
                let Ack::Delivered { n, .. } = ack else { panic!("refused: {ack:?}") };
                acked += u64::from(n);
            }
        }
    }
}

fn consumer(cluster: &Cluster, group: &str, topic: &str, entries: &[(&str, &str)]) -> TaskConsumer {
    let mut all = vec![("x.group.id", group)];
    all.extend(entries);
    let config = config(cluster, ClientKind::Consumer, &all);
    TaskConsumer::start(&config, Subscription::Topics(vec![topic.to_owned()])).expect("a consumer starts")
}

async fn event(consumer: &mut TaskConsumer) -> ConsumerEvent {
    let event = poll_fn(|cx| consumer.poll_event(cx));
    tokio::time::timeout(PATIENCE, event).await.expect("an event comes").expect("the consumer works")
}

fn numbers(batch: &ConsumedBatch) -> Vec<(i32, i64, i32)> {
    let number = |at| String::from_utf8_lossy(&batch.bytes(at)).parse().expect("a number");
    let records = batch.records.iter();
    let partition = |place: u32| batch.partitions[place as usize].partition;
    records.map(|r| (partition(r.partition), r.offset, number(r.value.expect("a value")))).collect()
}

#[tokio::test]
async fn a_hundred_thousand_records_come_back_once_and_in_order() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("clients", 4);
    fill(&cluster, &topic, 4, 0..100_000).await;
    let mut consumer = consumer(&cluster, &unique("group"), &topic, &[]);
    let mut seen: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    while seen.values().map(Vec::len).sum::<usize>() < 100_000 {
        match event(&mut consumer).await {
            ConsumerEvent::Assigned(from) => consumer.start(from),
            ConsumerEvent::Records(batch) => {
                for (partition, _, number) in numbers(&batch) {
                    seen.entry(partition).or_default().push(number);
                }
            }
            other => panic!("{other:?}"),
        }
    }
    for (partition, numbers) in seen {
        assert_eq!(numbers, (0..100_000).filter(|n| n % 4 == partition).collect::<Vec<_>>());
    }
    let start = Instant::now();
    consumer.close().await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn what_is_committed_in_a_revocation_is_where_the_next_owner_begins() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("clients", 4);
    fill(&cluster, &topic, 4, 0..4000).await;
    let group = unique("group");
    let mut first = consumer(&cluster, &group, &topic, &[]);
    let mut next: BTreeMap<Arc<TopicPartition>, i64> = BTreeMap::new();
    while next.len() < 4 || next.values().sum::<i64>() < 4000 {
        match event(&mut first).await {
            ConsumerEvent::Assigned(from) => first.start(from),
            ConsumerEvent::Records(batch) => {
                for (partition, position) in batch.partitions.iter().zip(&batch.positions) {
                    next.insert(Arc::clone(partition), *position);
                }
            }
            other => panic!("{other:?}"),
        }
    }
    let mut second = consumer(&cluster, &group, &topic, &[]);
    let revoked = match event(&mut first).await {
        ConsumerEvent::Revoked(partitions) => partitions,
        other => panic!("{other:?}"),
    };
    assert_eq!(revoked.len(), 2, "half of the partitions go: {revoked:?}");
    first.commit_now(revoked.iter().map(|p| (Arc::clone(p), next[p])).collect()).await.expect("the commit passes");
    first.released();
    let ConsumerEvent::Assigned(mut from) = event(&mut second).await else { panic!("no assignment") };
    from.sort();
    let mut expected: Vec<_> = revoked.iter().map(|p| (Arc::clone(p), next[p])).collect();
    expected.sort();
    assert_eq!(from, expected);
    second.start(from);

    // A consumer that is dropped leaves at once: the other gets its partitions long before the session would end.
    let start = Instant::now();
    drop(first);
    loop {
        match event(&mut second).await {
            ConsumerEvent::Assigned(from) => {
                assert!(!from.is_empty());
                second.start(from);
                break;
            }
            ConsumerEvent::Records(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    second.close().await;
}

#[tokio::test]
async fn a_slow_task_keeps_its_partitions() {
    let cluster = Cluster::shared();
    let topic = cluster.new_topic("clients", 1);
    fill(&cluster, &topic, 1, 0..20_000).await;
    let entries = [
        ("x.max.poll.interval.ms", "6000"),
        ("x.session.timeout.ms", "6000"),
        ("x.heartbeat.interval.ms", "1000"),
        ("x.max.poll.records", "1000"),
    ];
    let mut consumer = consumer(&cluster, &unique("group"), &topic, &entries);
    let mut seen = Vec::new();
    let mut slept = false;
    while seen.len() < 20_000 {
        match event(&mut consumer).await {
            ConsumerEvent::Assigned(from) => consumer.start(from),
            ConsumerEvent::Records(batch) => {
                seen.extend(numbers(&batch).into_iter().map(|(_, _, number)| number));
                if !std::mem::replace(&mut slept, true) {
                    // The slowness is the subject: a call that lasts longer than the poll interval.
                    drop(tokio::time::timeout(BUSY, std::future::pending::<()>()).await);
                }
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, (0..20_000).collect::<Vec<_>>());
    consumer.close().await;
}

async fn open_log(name: &str, clients: &LogClients) -> (KafkaLog, Seen) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = Seen::default();
        let into = Arc::clone(&seen);
        let collect = move |record: LogRecord<'_>| {
            let key = record.key.unwrap_or_default().to_vec();
            into.lock().expect("nobody panics").insert(key, record.value.map(<[u8]>::to_vec));
        };
        match KafkaLog::open(name, clients.clone(), Box::new(collect)).await {
            Ok(log) => return (log, seen),
            // The partitions of a new topic have no leaders for a moment.
            Err(error) if error.class() == ErrorClass::Retriable && Instant::now() < deadline => {}
            Err(error) => panic!("the log does not open: {error}"),
        }
    }
}

/// A producer with a transaction that has one record, this key, and is not ended.
fn open_transaction(cluster: &Cluster, topic: &str, key: &str) -> BaseProducer {
    let mut config = cluster.client_config();
    let producer: BaseProducer = config.set("transactional.id", unique("open")).create().expect("a producer starts");
    producer.init_transactions(PATIENCE).expect("transactions are initialised");
    producer.begin_transaction().expect("a transaction begins");
    let record = BaseRecord::to(topic).partition(0).key(key).payload("x");
    producer.send(record).map_err(|(error, _)| error).expect("the record is taken");
    producer.flush(PATIENCE).expect("the record is acknowledged");
    producer
}

#[tokio::test]
async fn a_committed_record_behind_the_open_transaction_of_another_is_waited_for() {
    let cluster = Cluster::shared();
    let name = cluster.new_topic("behind", 1);
    let clients = LogClients {
        consumer: config(&cluster, ClientKind::Consumer, &[("x.isolation.level", "read_committed")]),
        producer: config(&cluster, ClientKind::Producer, &[]),
        pool: Arc::default(),
        admin: KafkaAdmin::new(&config(&cluster, ClientKind::Admin, &[])).expect("an admin client starts"),
    };
    let keys = |seen: &Seen| -> Vec<String> {
        let seen = seen.lock().expect("nobody panics");
        seen.keys().map(|key| String::from_utf8_lossy(key).into_owned()).collect()
    };
    for aborted in [true, false] {
        let stranger = open_transaction(&cluster, &name, if aborted { "aborted" } else { "committed" });
        let ours = open_transaction(&cluster, &name, if aborted { "first" } else { "second" });
        ours.commit_transaction(PATIENCE).expect("the transaction is committed");
        // Nobody waits for strangers at the start: their transaction may last.
        let start = Instant::now();
        let (log, seen) = open_log(&name, &clients).await;
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        let before = keys(&seen);
        {
            let mut end = pin!(log.read_to_end());
            let early = tokio::time::timeout(Duration::from_secs(1), &mut end).await;
            assert!(early.is_err(), "what is committed behind an open transaction was not waited for: {before:?}");
            if aborted { stranger.abort_transaction(PATIENCE) } else { stranger.commit_transaction(PATIENCE) }
                .expect("the transaction is ended");
            end.await.expect("the end is reached");
        }
        let expected: &[&str] = if aborted { &["first"] } else { &["committed", "first", "second"] };
        assert_eq!(keys(&seen), expected, "before: {before:?}");
        // With nothing but markers behind the last record the end is reached again.
        log.read_to_end().await.expect("the end is reached");
    }
}

#[tokio::test]
async fn a_compacted_topic_is_made_written_and_read_to_its_end() {
    let cluster = Cluster::shared();
    let admin = KafkaAdmin::new(&config(&cluster, ClientKind::Admin, &[])).expect("an admin client starts");
    admin.wait_for_broker(PATIENCE).await.expect("the broker answers");
    let name = unique("state");
    let configs = vec![("cleanup.policy".to_owned(), "compact".to_owned())];
    let spec = TopicSpec { name: name.clone(), partitions: Some(5), replication_factor: Some(1), configs };
    assert_eq!(admin.create_topic(&spec).await, Ok(Created::New));
    assert_eq!(admin.create_topic(&spec).await, Ok(Created::Existed));
    let info = admin.topic(&name).await.expect("the broker answers").expect("the topic exists");
    assert_eq!((info.partitions, info.cleanup_policy.as_deref()), (5, Some("compact")));
    assert!(info.max_message_bytes.is_some());
    assert_eq!(admin.topic(&unique("absent")).await, Ok(None));

    let clients = LogClients {
        consumer: config(&cluster, ClientKind::Consumer, &[("x.isolation.level", "read_committed")]),
        producer: config(&cluster, ClientKind::Producer, &[]),
        pool: Arc::default(),
        admin,
    };
    let (log, seen) = open_log(&name, &clients).await;
    for n in 0..100_u32 {
        let value = (n % 3 != 0).then(|| n.to_string().into_bytes());
        log.write(vec![(format!("k{n}").into_bytes(), value)]).await.expect("the record is written");
    }
    log.read_to_end().await.expect("the end is reached");
    assert_eq!(seen.lock().expect("nobody panics").len(), 100);
    let (_again, read) = open_log(&name, &clients).await;
    assert_eq!(*read.lock().expect("nobody panics"), *seen.lock().expect("nobody panics"));
}
