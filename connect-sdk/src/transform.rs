//! Transformations and predicates: between a connector and its converters.

use crate::{
    data::{DataError, SchemaAndValue, Text},
    header::Headers,
};

/// A record as transformations see it, of a source or of a sink.
#[allow(clippy::exhaustive_structs, reason = "transformations take records apart and put them together")]
#[derive(Debug, Clone, Default)]
pub struct ConnectRecord {
    /// Where it goes (source), or where it came from (sink).
    pub topic: Text,
    /// The Kafka partition, if it is known.
    pub partition: Option<i32>,
    /// Milliseconds since 1970, if it has a timestamp.
    pub timestamp: Option<i64>,
    /// The key.
    pub key: SchemaAndValue,
    /// The value.
    pub value: SchemaAndValue,
    /// The headers.
    pub headers: Headers,
    /// The offset in Kafka: only records of sinks have one.
    pub offset: Option<i64>,
}

/// Changes, or drops, one record at a time. Keeps the behaviour of `org.apache.kafka.connect.transforms.Transformation`.
pub trait Transformation: Send {
    /// The changed record; `None` drops it. Called once for each record that reaches it, by its task.
    ///
    /// # Errors
    /// The record does not fit; `errors.tolerance` decides what becomes of it. [`DataError::retriable`] has the record
    /// tried again, from its beginning.
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError>;
}

/// Decides whether a transformation is applied. Keeps the behaviour of Kafka's `Predicate`.
pub trait Predicate: Send {
    /// True if the record is meant. Called before the transformation that names it.
    ///
    /// # Errors
    /// The record does not fit; `errors.tolerance` decides what becomes of it.
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError>;
}
