//! A client's view of a broker: create topics, produce, read everything, ask for committed offsets.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use connect_runtime::kafka::ClientKind;
use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, DeliveryResult, Header, Headers, Message, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use rdkafka::{ClientContext, Offset, TopicPartitionList};

use crate::wait::eventually;
use crate::{broker, unique};

/// Bounds one request to the broker.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_TIMEOUT: Duration = Duration::from_millis(100);
/// Tests of large records raise a topic's `max.message.bytes` up to this.
const RECORD_BYTES_MAX: &str = "16777216";

/// A broker as a client sees it.
#[derive(Debug, Clone)]
pub struct Cluster {
    bootstrap: String,
}

/// A record to produce.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// The partition; none leaves the choice to the partitioner.
    pub partition: Option<i32>,
    /// The key; none is Kafka's null.
    pub key: Option<Vec<u8>>,
    /// The value; none is Kafka's null, a tombstone.
    pub value: Option<Vec<u8>>,
    /// Headers in order; a header's value can be null.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    /// Milliseconds since 1970; none is now.
    pub timestamp_ms: Option<i64>,
}

/// A record as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// The partition.
    pub partition: i32,
    /// The offset.
    pub offset: i64,
    /// The key; none is Kafka's null.
    pub key: Option<Vec<u8>>,
    /// The value; none is Kafka's null.
    pub value: Option<Vec<u8>>,
    /// Headers in order. Header keys must be UTF-8.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    /// Milliseconds since 1970.
    pub timestamp_ms: Option<i64>,
}

/// Which records are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Those of committed transactions and of none; up to the first open transaction.
    ReadCommitted,
    /// All.
    ReadUncommitted,
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Committed.
    Commit,
    /// Aborted.
    Abort,
}

impl Outgoing {
    /// A record with this value and no key.
    pub fn value(value: impl Into<Vec<u8>>) -> Self {
        Self { value: Some(value.into()), ..Self::default() }
    }

    /// A record with key and value.
    pub fn keyed(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self { key: Some(key.into()), ..Self::value(value) }
    }

    /// A record with this key and a null value.
    pub fn tombstone(key: impl Into<Vec<u8>>) -> Self {
        Self { key: Some(key.into()), ..Self::default() }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, key: impl Into<String>, value: Option<&[u8]>) -> Self {
        self.headers.push((key.into(), value.map(<[u8]>::to_vec)));
        self
    }

    /// Chooses the partition.
    #[must_use]
    pub fn to_partition(mut self, partition: i32) -> Self {
        self.partition = Some(partition);
        self
    }
}

impl Incoming {
    /// The value as text; an empty text for null.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.value.as_deref().unwrap_or_default()).into_owned()
    }

    /// The key as text; an empty text for null.
    pub fn key_text(&self) -> String {
        String::from_utf8_lossy(self.key.as_deref().unwrap_or_default()).into_owned()
    }

    fn from_message(message: &BorrowedMessage<'_>) -> Self {
        let headers = message.headers().map(|headers| {
            headers.iter().map(|header| (header.key.to_owned(), header.value.map(<[u8]>::to_vec))).collect()
        });
        Self {
            partition: message.partition(),
            offset: message.offset(),
            key: message.key().map(<[u8]>::to_vec),
            value: message.payload().map(<[u8]>::to_vec),
            headers: headers.unwrap_or_default(),
            timestamp_ms: message.timestamp().to_millis(),
        }
    }
}

impl Cluster {
    /// The broker that the tests of this process share.
    pub fn shared() -> Self {
        Self::at(broker::bootstrap())
    }

    /// The broker at this address.
    pub fn at(bootstrap: impl Into<String>) -> Self {
        Self { bootstrap: bootstrap.into() }
    }

    /// `host:port`.
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// Client properties for this broker, for a client that a test makes itself.
    pub fn client_config(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &self.bootstrap);
        // A broker that was killed and comes back is found at once.
        config.set("reconnect.backoff.ms", "50").set("reconnect.backoff.max.ms", "500");
        config
    }

    /// Creates a topic with a new name and returns the name.
    pub fn new_topic(&self, prefix: &str, partitions: i32) -> String {
        let name = unique(prefix);
        self.create_topic(&name, partitions, &[]);
        name
    }

    /// Creates a topic with these topic properties and waits until the broker serves it.
    pub fn create_topic(&self, name: &str, partitions: i32, properties: &[(&str, &str)]) {
        let mut topic = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
        for (key, value) in properties {
            topic = topic.set(key, value);
        }
        let admin = self.admin();
        let results = block_on(admin.create_topics([&topic], &AdminOptions::new())).expect("the broker answers");
        for result in results {
            result.unwrap_or_else(|(name, code)| panic!("topic `{name}` was not created: {code}"));
        }
        eventually(&format!("topic `{name}` has leaders"), REQUEST_TIMEOUT, || {
            self.partitions(name).filter(|found| *found == partitions)
        });
    }

    /// Deletes a topic.
    pub fn delete_topic(&self, name: &str) {
        let admin = self.admin();
        let results = block_on(admin.delete_topics(&[name], &AdminOptions::new())).expect("the broker answers");
        for result in results {
            result.unwrap_or_else(|(name, code)| panic!("topic `{name}` was not deleted: {code}"));
        }
    }

    /// The number of partitions of a topic, once each has a leader; none if there is no such topic.
    pub fn partitions(&self, topic: &str) -> Option<i32> {
        partitions(&self.consumer(Isolation::ReadUncommitted), topic)
    }

    /// The value of a topic's property, its default included.
    pub fn topic_property(&self, topic: &str, key: &str) -> Option<String> {
        let admin = self.admin();
        let resources = [ResourceSpecifier::Topic(topic)];
        let results = block_on(admin.describe_configs(&resources, &AdminOptions::new())).expect("the broker answers");
        let resource = results.into_iter().next()?.unwrap_or_else(|code| panic!("topic `{topic}`: {code}"));
        resource.get(key).and_then(|entry| entry.value.clone())
    }

    /// Produces records in order and waits until the broker has acknowledged each.
    pub fn produce(&self, topic: &str, records: impl IntoIterator<Item = Outgoing>) {
        let producer = self.producer(&[("enable.idempotence", "true")]);
        send_all(&producer, topic, records);
        producer.flush(REQUEST_TIMEOUT).expect("every record is acknowledged in time");
        producer.context().check(topic);
    }

    /// Produces records in one transaction.
    pub fn produce_in_transaction(&self, topic: &str, records: impl IntoIterator<Item = Outgoing>, outcome: Outcome) {
        let producer = self.producer(&[("transactional.id", &unique("test"))]);
        producer.init_transactions(REQUEST_TIMEOUT).expect("transactions are initialised");
        producer.begin_transaction().expect("a transaction begins");
        send_all(&producer, topic, records);
        // Only what has reached the broker is there to be seen, or to be hidden when the transaction is aborted.
        producer.flush(REQUEST_TIMEOUT).expect("every record is acknowledged in time");
        producer.context().check(topic);
        match outcome {
            Outcome::Commit => producer.commit_transaction(REQUEST_TIMEOUT).expect("the transaction is committed"),
            Outcome::Abort => producer.abort_transaction(REQUEST_TIMEOUT).expect("the transaction is aborted"),
        }
    }

    /// All records of a topic up to its present end, by partition and offset. No records if there is no such topic.
    pub fn read(&self, topic: &str, isolation: Isolation) -> Vec<Incoming> {
        let consumer = self.consumer(isolation);
        let Some(n_partitions) = partitions(&consumer, topic) else { return Vec::new() };
        assign_all(&consumer, topic, n_partitions);
        let deadline = Instant::now() + REQUEST_TIMEOUT;
        let mut n_ended = 0;
        let mut records = Vec::new();
        while n_ended < n_partitions {
            assert!(Instant::now() < deadline, "the end of topic `{topic}` is not reached within {REQUEST_TIMEOUT:?}");
            match consumer.poll(POLL_TIMEOUT) {
                None => {}
                Some(Ok(message)) => records.push(Incoming::from_message(&message)),
                Some(Err(KafkaError::PartitionEOF(_))) => n_ended += 1,
                Some(Err(error)) => panic!("topic `{topic}` cannot be read: {error}"),
            }
        }
        records.sort_by_key(|record| (record.partition, record.offset));
        records
    }

    /// Where a reader's topic ends now, by partition: before the first open transaction, or behind everything.
    pub fn ends(&self, topic: &str, isolation: Isolation) -> Vec<i64> {
        let consumer = self.consumer(isolation);
        let n_partitions = partitions(&consumer, topic).unwrap_or(0);
        let end =
            |partition| consumer.fetch_watermarks(topic, partition, REQUEST_TIMEOUT).expect("the broker answers").1;
        (0..n_partitions).map(end).collect()
    }

    /// The values of a topic as text, by partition and offset.
    pub fn read_texts(&self, topic: &str) -> Vec<String> {
        self.read(topic, Isolation::ReadCommitted).iter().map(Incoming::text).collect()
    }

    /// Reads a topic, which may not be there yet, until it holds at least `n` records, and returns them all.
    pub fn wait_for_records(&self, topic: &str, n: usize, timeout: Duration) -> Vec<Incoming> {
        let consumer = self.consumer(Isolation::ReadCommitted);
        let deadline = Instant::now() + timeout;
        let n_partitions = eventually(&format!("topic `{topic}` exists"), timeout, || partitions(&consumer, topic));
        assign_all(&consumer, topic, n_partitions);
        let mut records = Vec::new();
        while records.len() < n {
            let found = records.len();
            assert!(Instant::now() < deadline, "not within {timeout:?}: topic `{topic}` has {found} of {n} records");
            match consumer.poll(POLL_TIMEOUT) {
                None | Some(Err(KafkaError::PartitionEOF(_))) => {}
                Some(Ok(message)) => records.push(Incoming::from_message(&message)),
                // The broker may be away for a while: a test can restart it while it waits here.
                Some(Err(KafkaError::MessageConsumption(code))) if is_transient(code) => {}
                Some(Err(error)) => panic!("topic `{topic}` cannot be read: {error}"),
            }
        }
        records.sort_by_key(|record| (record.partition, record.offset));
        records
    }

    /// The committed offsets of a consumer group in a topic, by partition; partitions without one are left out.
    pub fn committed(&self, group: &str, topic: &str) -> BTreeMap<i32, i64> {
        let mut config = self.client_config();
        config.set("group.id", group).set("enable.auto.commit", "false");
        let consumer: BaseConsumer = config.create().expect("the client properties are valid");
        let mut list = TopicPartitionList::new();
        list.add_partition_range(topic, 0, partitions(&consumer, topic).unwrap_or(1) - 1);
        let offsets = consumer.committed_offsets(list, REQUEST_TIMEOUT).expect("the broker answers");
        let known = |element: &rdkafka::topic_partition_list::TopicPartitionListElem<'_>| match element.offset() {
            Offset::Offset(offset) => Some((element.partition(), offset)),
            _ => None,
        };
        offsets.elements().iter().filter_map(known).collect()
    }

    /// Commits an offset of a group that has no members.
    pub fn commit(&self, group: &str, topic: &str, partition: i32, offset: i64) {
        let mut config = self.client_config();
        config.set("group.id", group).set("enable.auto.commit", "false");
        let consumer: BaseConsumer = config.create().expect("the client properties are valid");
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(topic, partition, Offset::Offset(offset)).expect("a valid offset");
        consumer.commit(&list, CommitMode::Sync).expect("the broker takes the commit");
    }

    /// Adds partitions to a topic, up to this number.
    pub fn grow_topic(&self, topic: &str, partitions: i32) {
        let admin = self.admin();
        let more = NewPartitions::new(topic, usize::try_from(partitions).expect("a number of partitions"));
        let results = block_on(admin.create_partitions([&more], &AdminOptions::new())).expect("the broker answers");
        for result in results {
            result.unwrap_or_else(|(name, code)| panic!("topic `{name}` has no more partitions: {code}"));
        }
        eventually(&format!("topic `{topic}` has leaders"), REQUEST_TIMEOUT, || {
            self.partitions(topic).filter(|found| *found == partitions)
        });
    }

    /// The client ids of a group's members, in order; none if the group is empty or not there. Of groups of the classic
    /// protocol only.
    pub fn members(&self, group: &str) -> Vec<String> {
        let consumer = self.consumer(Isolation::ReadUncommitted);
        let list = consumer.client().fetch_group_list(Some(group), REQUEST_TIMEOUT).expect("the broker answers");
        let members = list.groups().iter().flat_map(|group| group.members());
        let mut ids: Vec<String> = members.map(|member| member.client_id().to_owned()).collect();
        ids.sort();
        ids
    }

    /// How many partitions each member of a group has, in order. Of groups of the classic protocol only.
    pub fn assigned(&self, group: &str) -> Vec<usize> {
        let assignments = self.assignments(group);
        let mut counts: Vec<usize> = assignments.iter().map(|member| member.values().map(Vec::len).sum()).collect();
        counts.sort_unstable();
        counts
    }

    /// The partitions of each member of a group, by topic.
    pub fn assignments(&self, group: &str) -> Vec<BTreeMap<String, Vec<i32>>> {
        let builder = connect_runtime::kafka::ClientConfig::builder(ClientKind::Admin);
        let config = builder.set("bootstrap.servers", self.bootstrap()).build().expect("the settings are right").0;
        let described = block_on(async {
            let mut wire = connect_runtime::kafka::Cluster::new(&config)?;
            wire.group_members(group).await
        });
        let members = described.expect("the broker answers").map(|group| group.members).unwrap_or_default();
        members.into_iter().map(|member| member.assigned).collect()
    }

    fn admin(&self) -> AdminClient<DefaultClientContext> {
        self.client_config().create().expect("the client properties are valid")
    }

    fn consumer(&self, isolation: Isolation) -> BaseConsumer {
        let mut config = self.client_config();
        // The group is never joined: partitions are assigned by hand.
        config.set("group.id", unique("reader")).set("enable.auto.commit", "false").set("enable.partition.eof", "true");
        config.set("auto.offset.reset", "earliest").set("fetch.wait.max.ms", "50");
        config.set("fetch.message.max.bytes", RECORD_BYTES_MAX);
        config.set(
            "isolation.level",
            match isolation {
                Isolation::ReadCommitted => "read_committed",
                Isolation::ReadUncommitted => "read_uncommitted",
            },
        );
        config.create().expect("the client properties are valid")
    }

    fn producer(&self, properties: &[(&str, &str)]) -> BaseProducer<Deliveries> {
        let mut config = self.client_config();
        config.set("acks", "all").set("linger.ms", "1").set("message.max.bytes", RECORD_BYTES_MAX);
        for (key, value) in properties {
            config.set(*key, *value);
        }
        config.create_with_context(Deliveries::default()).expect("the client properties are valid")
    }
}

fn is_transient(code: RDKafkaErrorCode) -> bool {
    matches!(
        code,
        RDKafkaErrorCode::AllBrokersDown
            | RDKafkaErrorCode::BrokerTransportFailure
            | RDKafkaErrorCode::OperationTimedOut
            | RDKafkaErrorCode::NotLeaderForPartition
            | RDKafkaErrorCode::LeaderNotAvailable
    )
}

fn partitions(consumer: &BaseConsumer, topic: &str) -> Option<i32> {
    let metadata = consumer.fetch_metadata(Some(topic), REQUEST_TIMEOUT).ok()?;
    let topic = metadata.topics().first().filter(|topic| topic.error().is_none())?;
    let led = topic.partitions().iter().filter(|partition| partition.error().is_none() && partition.leader() >= 0);
    let n_led = i32::try_from(led.count()).ok()?;
    (n_led > 0 && i32::try_from(topic.partitions().len()).ok()? == n_led).then_some(n_led)
}

fn assign_all(consumer: &BaseConsumer, topic: &str, n_partitions: i32) {
    let mut list = TopicPartitionList::new();
    for partition in 0..n_partitions {
        list.add_partition_offset(topic, partition, Offset::Beginning).expect("the beginning is a valid offset");
    }
    consumer.assign(&list).expect("partitions of a topic that exists can be assigned");
}

fn send_all(producer: &BaseProducer<Deliveries>, topic: &str, records: impl IntoIterator<Item = Outgoing>) {
    for outgoing in records {
        let mut headers = OwnedHeaders::new_with_capacity(outgoing.headers.len());
        for (key, value) in &outgoing.headers {
            headers = headers.insert(Header { key, value: value.as_deref() });
        }
        let mut record = BaseRecord::<[u8], [u8], ()>::to(topic).headers(headers);
        record.partition = outgoing.partition;
        record.key = outgoing.key.as_deref();
        record.payload = outgoing.value.as_deref();
        record.timestamp = outgoing.timestamp_ms;
        while let Err((error, back)) = producer.send(record) {
            let full = error.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull);
            assert!(full, "a record for topic `{topic}` is refused: {error}");
            producer.poll(POLL_TIMEOUT);
            record = back;
        }
    }
}

/// Keeps the first failed delivery.
#[derive(Debug, Default)]
struct Deliveries {
    failure: Mutex<Option<String>>,
}

impl Deliveries {
    fn check(&self, topic: &str) {
        let failure = self.failure.lock().expect("nobody panics while the lock is held").take();
        assert!(failure.is_none(), "a record was not delivered to topic `{topic}`: {}", failure.unwrap_or_default());
    }
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if let Err((error, _)) = result {
            let mut failure = self.failure.lock().expect("nobody panics while the lock is held");
            failure.get_or_insert_with(|| error.to_string());
        }
    }
}

/// Runs a future of the admin client to its end. A thread of its own makes this work inside an async test too, where a
/// second runtime could not be entered.
fn block_on<F>(future: F) -> F::Output
where
    F: Future + Send,
    F::Output: Send,
{
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be built").block_on(future)
    };
    thread::scope(|scope| scope.spawn(run).join().expect("an admin call does not panic"))
}
