//! `SinkRecord`, and the tokens by which a sink speaks of positions.

use crate::{
    data::{ConnectData, DataError, Schema, SchemaAndValue, Text, Value, value_text},
    header::Headers,
    task::ports::ConsumedBatch,
};
use std::{borrow::Cow, fmt, sync::Arc};

/// A partition of a topic, as Kafka knows it: never the name after transformations.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicPartition {
    /// The topic.
    pub topic: Text,
    /// The partition's number.
    pub partition: i32,
}

impl TopicPartition {
    /// Names a partition.
    #[must_use]
    pub fn new(topic: impl Into<Text>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", &*self.topic, self.partition)
    }
}

/// One life of an assigned partition. Every record of it holds a reference, so the framework can tell whether a sink
/// still holds records that it called safe.
#[derive(Debug)]
pub struct PartitionTag {
    pub(crate) partition: Arc<TopicPartition>,
}

impl PartitionTag {
    /// A new life of a partition: records of an earlier one are not counted.
    #[must_use]
    pub fn new(partition: Arc<TopicPartition>) -> Arc<Self> {
        Arc::new(Self { partition })
    }

    /// Which partition.
    #[must_use]
    pub fn partition(&self) -> &Arc<TopicPartition> {
        &self.partition
    }
}

/// A record that was read from Kafka, converted and transformed.
///
/// It is not `Clone`: whoever holds it is known to hold it.
#[derive(Debug)]
pub struct SinkRecord {
    tag: Arc<PartitionTag>,
    parts: SinkRecordParts,
    original: Option<OriginalRecord>,
}

/// A record as it came from Kafka: what a dead letter queue gets, also of a record that is rejected much later.
#[derive(Debug, Clone)]
pub(crate) struct OriginalRecord {
    /// Shared by the records of one consumer poll.
    pub(crate) batch: Arc<ConsumedBatch>,
    /// Which record of it.
    pub(crate) index: u32,
}

/// What a runtime or a test makes a [`SinkRecord`] of.
#[derive(Debug, Default)]
pub struct SinkRecordParts {
    /// The offset in its partition.
    pub offset: i64,
    /// Milliseconds since 1970, if the record has a timestamp.
    pub timestamp: Option<i64>,
    /// The topic after transformations, if they changed it.
    pub routed_topic: Option<Text>,
    /// The key.
    pub key: SchemaAndValue,
    /// The value.
    pub value: SchemaAndValue,
    /// The headers.
    pub headers: Headers,
}

impl SinkRecord {
    /// Puts a record together; called by runtimes and by the testkit.
    #[doc(hidden)]
    #[must_use]
    pub fn from_parts(tag: Arc<PartitionTag>, parts: SinkRecordParts) -> Self {
        Self { tag, parts, original: None }
    }

    /// Keeps what it was made of; only where there is a dead letter queue.
    pub(crate) fn keep_original(&mut self, original: OriginalRecord) {
        self.original = Some(original);
    }

    /// What it was made of, if that was kept.
    pub(crate) fn original(&self) -> Option<&OriginalRecord> {
        self.original.as_ref()
    }

    /// True if it belongs to this life of a partition.
    pub(crate) fn has_tag(&self, tag: &Arc<PartitionTag>) -> bool {
        Arc::ptr_eq(&self.tag, tag)
    }

    /// The topic it was read from.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.tag.partition.topic
    }

    /// The partition it was read from.
    #[must_use]
    pub fn partition(&self) -> i32 {
        self.tag.partition.partition
    }

    /// Its offset in that partition.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.parts.offset
    }

    /// True if it was read from one of these partitions. In `closed`, to drop what is held of them:
    /// `self.held.retain(|record| !record.is_in(partitions))`.
    #[must_use]
    pub fn is_in(&self, partitions: &[TopicPartition]) -> bool {
        partitions.contains(&self.tag.partition)
    }

    /// The topic after transformations: where a sink that maps topics to tables should write.
    #[must_use]
    pub fn routed_topic(&self) -> &str {
        self.parts.routed_topic.as_deref().unwrap_or(&self.tag.partition.topic)
    }

    /// The key, if there is one.
    #[must_use]
    pub fn key(&self) -> Option<&Value> {
        self.parts.key.value.as_ref()
    }

    /// The key's schema, if it has one.
    #[must_use]
    pub fn key_schema(&self) -> Option<&Schema> {
        self.parts.key.schema.as_ref()
    }

    /// The value; `None` is a tombstone.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.parts.value.value.as_ref()
    }

    /// The value's schema, if it has one.
    #[must_use]
    pub fn value_schema(&self) -> Option<&Schema> {
        self.parts.value.schema.as_ref()
    }

    /// The headers, in order.
    #[must_use]
    pub fn headers(&self) -> &Headers {
        &self.parts.headers
    }

    /// Milliseconds since 1970, if the record has a timestamp.
    #[must_use]
    pub fn timestamp(&self) -> Option<i64> {
        self.parts.timestamp
    }

    /// The value as a type of yours.
    ///
    /// # Errors
    /// Names the field that does not fit. Plain `?` makes it fatal; to tolerate it: `cx.reject(&record, error)?`.
    pub fn value_as<T: ConnectData>(&self) -> Result<T, DataError> {
        T::from_value(self.value())
    }

    /// The key as a type of yours.
    ///
    /// # Errors
    /// As for [`Self::value_as`].
    pub fn key_as<T: ConnectData>(&self) -> Result<T, DataError> {
        T::from_value(self.key())
    }

    /// The value as text, as Java prints it: what `FileStreamSink` writes. A tombstone is `null`.
    #[must_use]
    pub fn value_text(&self) -> Cow<'_, str> {
        self.value().map_or(Cow::Borrowed("null"), value_text)
    }

    /// A token for this record's place, for sinks that keep rows rather than records.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { partition: Arc::clone(&self.tag.partition), offset: self.parts.offset }
    }
}

/// Where a record stands. Only a record can make one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Position {
    partition: Arc<TopicPartition>,
    offset: i64,
}

impl Position {
    /// The topic the record was read from.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.partition.topic
    }

    /// The partition the record was read from.
    #[must_use]
    pub fn partition(&self) -> i32 {
        self.partition.partition
    }

    /// The record's offset.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The partition, to be shared.
    pub(crate) fn topic_partition(&self) -> &Arc<TopicPartition> {
        &self.partition
    }
}

/// Records and [`Position`]s: what a sink may say it still holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name the place of a record",
    label = "pass the held records, or their `record.position()` tokens"
)]
pub trait HasPosition {
    #[doc(hidden)]
    fn place(&self) -> (&TopicPartition, i64);
}

impl HasPosition for SinkRecord {
    fn place(&self) -> (&TopicPartition, i64) {
        (&self.tag.partition, self.parts.offset)
    }
}

impl HasPosition for Position {
    fn place(&self) -> (&TopicPartition, i64) {
        (&self.partition, self.offset)
    }
}
