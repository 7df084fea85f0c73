//! `SinkTester`: a sink in a unit test, called as the worker calls it.

use super::life::{Asked, SafeOffsets, SinkLife};
use crate::{
    data::{ConnectData, IntoValue, Schema, SchemaAndValue, Text, Value},
    erased::{DynSinkConnector, Properties, SinkDescriptor},
    error::Result,
    header::Headers,
    sink::{
        CloseReason, PartitionTag, Position, PutAction, SinkConnector, SinkRecord, SinkRecordParts, TopicPartition,
    },
};
use bytes::Bytes;
use std::{collections::BTreeMap, sync::Arc};

/// A record for a test: of topic `test`, partition 0, with the next offset there, unless it says otherwise.
///
/// ```
/// use connect_sdk::testkit::TestRecord;
/// let record = TestRecord::text("hello").key_text("k").to("greetings", 2);
/// # let _ = record;
/// ```
#[derive(Debug, Clone)]
#[must_use = "a record does nothing until it is put"]
pub struct TestRecord {
    partition: TopicPartition,
    offset: Option<i64>,
    timestamp: Option<i64>,
    routed_topic: Option<Text>,
    key: SchemaAndValue,
    value: SchemaAndValue,
    headers: Headers,
}

impl TestRecord {
    /// A record with this value and its schema; everything else is empty.
    pub fn new(value: SchemaAndValue) -> Self {
        Self {
            partition: TopicPartition::new("test", 0),
            offset: None,
            timestamp: None,
            routed_topic: None,
            key: SchemaAndValue::NULL,
            value,
            headers: Headers::new(),
        }
    }

    /// Text, as StringConverter gives it.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::new(text_value(text))
    }

    /// Bytes, as ByteArrayConverter gives them.
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self::new(SchemaAndValue::new(Some(Schema::optional_bytes()), Some(Value::Bytes(bytes.into()))))
    }

    /// A value without a schema, as JsonConverter gives it with `schemas.enable=false`: maps, lists, numbers, texts.
    pub fn schemaless(value: impl IntoValue) -> Self {
        Self::new(SchemaAndValue::new(None, value.into_value()))
    }

    /// A value of a type of yours, with its schema.
    pub fn data<T: ConnectData>(value: &T) -> Self {
        Self::new(SchemaAndValue::new(Some(T::schema()), value.to_value()))
    }

    /// No value: what deletes a key.
    pub fn tombstone() -> Self {
        Self::new(SchemaAndValue::NULL)
    }

    /// In another topic or partition.
    pub fn to(mut self, topic: impl Into<Text>, partition: i32) -> Self {
        self.partition = TopicPartition::new(topic, partition);
        self
    }

    /// At this offset, which must not be below that of an earlier record of the partition.
    pub fn at(mut self, offset: i64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// With a text as key.
    pub fn key_text(self, key: impl Into<Text>) -> Self {
        self.key(text_value(key))
    }

    /// With a key.
    pub fn key(mut self, key: SchemaAndValue) -> Self {
        self.key = key;
        self
    }

    /// With headers.
    pub fn headers(mut self, headers: Headers) -> Self {
        self.headers = headers;
        self
    }

    /// With a timestamp in milliseconds since 1970.
    pub fn timestamp(mut self, millis: i64) -> Self {
        self.timestamp = Some(millis);
        self
    }

    /// As if a transformation had changed its topic.
    pub fn routed_to(mut self, topic: impl Into<Text>) -> Self {
        self.routed_topic = Some(topic.into());
        self
    }

    pub(super) fn into_record(self, tag: &Arc<PartitionTag>, offset: i64) -> SinkRecord {
        SinkRecord::from_parts(
            Arc::clone(tag),
            SinkRecordParts {
                offset,
                timestamp: self.timestamp,
                routed_topic: self.routed_topic,
                key: self.key,
                value: self.value,
                headers: self.headers,
            },
        )
    }
}

fn text_value(text: impl Into<Text>) -> SchemaAndValue {
    SchemaAndValue::new(Some(Schema::optional_string()), Some(Value::String(text.into())))
}

/// A sink as the worker runs it, one call at a time: for unit tests of a sink's own code.
///
/// It checks what the worker checks: a sink that calls records written and still holds them gets the worker's error.
/// Use it inside `#[tokio::test]`, or any tokio runtime.
///
/// ```
/// use connect_sdk::{prelude::*, testkit::{SinkTester, TestRecord}};
/// # #[derive(ConnectorConfig)]
/// # pub struct NoConfig {}
/// pub struct Count(usize);
///
/// /// Counts records, ten at a time.
/// #[sink_connector(name = "count")]
/// impl BufferedSink for Count {
/// #    type Config = NoConfig;
/// #    async fn open(_: &NoConfig, _: &OpenCx) -> Result<Self> { Ok(Self(0)) }
/// #    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> { self.0 += records.len(); Ok(()) }
/// #    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
/// #        Ok(match at { PreCommit::Running(at) => at.all(), PreCommit::Closing(at) => at.all_written() })
/// #    }
///     // ..
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let mut sink = SinkTester::open::<Count>([]).await?;
/// sink.put([TestRecord::text("a"), TestRecord::text("b")]).await?;
/// assert_eq!(sink.pre_commit().await?.of("test", 0), Some(2));
/// # Ok(())
/// # }
/// ```
pub struct SinkTester {
    connector: Box<dyn DynSinkConnector>,
    properties: Properties,
    tolerant: bool,
    life: SinkLife,
    /// The next offset of each partition.
    next: BTreeMap<TopicPartition, i64>,
    asked: Asked,
}

impl std::fmt::Debug for SinkTester {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SinkTester").field("sink", &self.connector.meta().type_name).finish_non_exhaustive()
    }
}

impl SinkTester {
    /// Opens the sink with these properties, as with `errors.tolerance=none`.
    ///
    /// # Errors
    /// The sink's own, and those of its configuration.
    pub async fn open<S: SinkConnector>(properties: impl IntoIterator<Item = (&str, &str)>) -> Result<Self> {
        let connector = SinkDescriptor::<S>::new();
        let properties = properties.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let life = SinkLife::open(&connector, &properties, false).await?;
        let connector = Box::new(connector);
        Ok(Self { connector, properties, tolerant: false, life, next: BTreeMap::new(), asked: Asked::default() })
    }

    /// From the next [`Self::restart`] on works as with `errors.tolerance=all`: rejected records are kept in
    /// [`Self::rejected`] instead of failing the put.
    pub fn tolerate(&mut self) {
        self.tolerant = true;
    }

    /// Drops the sink where it stands, as a kill does, and opens another. It has no partitions and no records before
    /// they are put again.
    ///
    /// # Errors
    /// The sink's own.
    pub async fn restart(&mut self) -> Result<()> {
        self.life = SinkLife::open(self.connector.as_ref(), &self.properties, self.tolerant).await?;
        self.asked = Asked::default();
        Ok(())
    }

    /// Puts records. Partitions that the sink does not have yet are assigned to it first.
    ///
    /// # Errors
    /// The sink's own. The records do not count as delivered then.
    pub async fn put(&mut self, records: impl IntoIterator<Item = TestRecord>) -> Result<()> {
        let records: Vec<_> = records.into_iter().collect();
        let mut new: Vec<(TopicPartition, i64)> = Vec::new();
        for record in &records {
            if !self.life.offsets.owns(&record.partition) && !new.iter().any(|(p, _)| *p == record.partition) {
                let next = self.next.get(&record.partition).copied().unwrap_or(0);
                new.push((record.partition.clone(), record.offset.unwrap_or(next)));
            }
        }
        if !new.is_empty() {
            self.life.assign(&new).await?;
        }
        let mut made = Vec::with_capacity(records.len());
        for record in records {
            let next = self.next.entry(record.partition.clone()).or_insert(0);
            let offset = record.offset.unwrap_or(*next);
            *next = offset + 1;
            if let Some(tag) = self.life.offsets.tag(&record.partition).cloned() {
                made.push(record.into_record(&tag, offset));
            }
        }
        let asked = self.life.put(&mut made).await?;
        self.asked.rejected.extend(asked.rejected);
        self.asked.actions.extend(asked.actions);
        Ok(())
    }

    /// The positions that the sink has rejected, with its reasons. Needs [`Self::tolerate`].
    #[must_use]
    pub fn rejected(&self) -> Vec<(Position, String)> {
        self.asked.rejected.iter().map(|r| (r.position.clone(), r.cause.to_string())).collect()
    }

    /// What the sink asked of the framework, in order: pauses, commits, early calls.
    #[must_use]
    pub fn actions(&self) -> &[PutAction] {
        &self.asked.actions
    }

    /// A regular commit: what the sink calls safe.
    ///
    /// # Errors
    /// The sink's own, and the worker's if the sink holds records that it called written.
    pub async fn pre_commit(&mut self) -> Result<SafeOffsets> {
        self.life.pre_commit().await
    }

    /// Takes a partition away: the last commit, then `closed`.
    ///
    /// # Errors
    /// As [`Self::pre_commit`].
    pub async fn revoke(&mut self, topic: &str, partition: i32) -> Result<SafeOffsets> {
        let partitions = [TopicPartition::new(topic, partition)];
        self.close_partitions(&partitions, CloseReason::Revoked).await
    }

    /// Takes a partition away without a last commit.
    ///
    /// # Errors
    /// The sink's own; and one if it still holds records of the partition afterwards.
    pub async fn lose(&mut self, topic: &str, partition: i32) -> Result<()> {
        self.life.closed(&[TopicPartition::new(topic, partition)], CloseReason::Lost).await
    }

    /// Stops the task: the last commit of everything, `closed`, `close`.
    ///
    /// # Errors
    /// As [`Self::pre_commit`].
    pub async fn stop(mut self) -> Result<SafeOffsets> {
        let partitions = self.life.partitions();
        let safe = self.close_partitions(&partitions, CloseReason::Stopping).await?;
        self.life.close().await?;
        Ok(safe)
    }

    async fn close_partitions(&mut self, partitions: &[TopicPartition], why: CloseReason) -> Result<SafeOffsets> {
        if partitions.is_empty() {
            return Ok(SafeOffsets::default());
        }
        let safe = self.life.pre_commit_closing(partitions, why).await?;
        self.life.closed(partitions, why).await?;
        Ok(safe)
    }
}
