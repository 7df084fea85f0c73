//! `Record`: what a source emits, borrowing as much as possible.

use crate::data::{ConnectData, Schema, SchemaAndValue, Text, Value};
use bytes::Bytes;
use std::borrow::Cow;

/// A record on its way into a batch.
///
/// Text and bytes are borrowed and copied once, into the batch's buffer, when the record is emitted.
///
/// ```
/// use connect_sdk::prelude::*;
/// let record = Record::to("orders").key("42").value("a line").header("origin", "a.txt");
/// assert_eq!(record.topic(), "orders");
/// ```
#[must_use = "a record does nothing until it is emitted with its offset: `out.emit(&mut cursor, record, offset)`"]
#[derive(Debug, Clone)]
pub struct Record<'a> {
    pub(super) topic: Cow<'a, str>,
    pub(super) partition: Option<i32>,
    pub(super) timestamp: Option<i64>,
    pub(super) key: Field<'a>,
    pub(super) value: Field<'a>,
    pub(super) headers: Vec<(Cow<'a, str>, Field<'a>)>,
}

impl<'a> Record<'a> {
    /// A record for `topic`, so far without key and value (which makes it a tombstone).
    pub fn to(topic: impl Into<Cow<'a, str>>) -> Self {
        Self {
            topic: topic.into(),
            partition: None,
            timestamp: None,
            key: Field::Null,
            value: Field::Null,
            headers: Vec::new(),
        }
    }

    /// Sets the key: text, bytes, numbers, a Connect value, or a reference to a type that derives `ConnectData`.
    pub fn key(mut self, key: impl IntoPayload<'a>) -> Self {
        self.key = key.into_payload().0;
        self
    }

    /// Sets the value; the same types as for [`Self::key`].
    pub fn value(mut self, value: impl IntoPayload<'a>) -> Self {
        self.value = value.into_payload().0;
        self
    }

    /// Adds a header; names may repeat and keep their order.
    pub fn header(mut self, name: impl Into<Cow<'a, str>>, value: impl IntoPayload<'a>) -> Self {
        self.headers.push((name.into(), value.into_payload().0));
        self
    }

    /// Sets the Kafka partition, which the partitioner chooses otherwise.
    pub fn partition(mut self, partition: i32) -> Self {
        self.partition = Some(partition);
        self
    }

    /// Sets the timestamp in milliseconds since 1970; without one the producer takes the time of sending.
    ///
    /// -1 stands for none, as in Kafka; any other negative timestamp makes the task fail.
    pub fn timestamp(mut self, milliseconds: i64) -> Self {
        self.timestamp = Some(milliseconds);
        self
    }

    /// The topic it goes to.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.topic
    }
}

/// A key, a value or a header value before it is in the batch.
#[derive(Debug, Clone)]
pub(super) enum Field<'a> {
    Null,
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    Owned(SchemaAndValue),
}

/// What a key, value or header can be made of; sealed.
#[derive(Debug)]
pub struct AnyPayload<'a>(Field<'a>);

/// A type that can be a record's key, value or header value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key, value or header of a record",
    label = "not text, bytes, a number, a bool, a Connect `Value`, or a reference to a type with `#[derive(ConnectData)]`"
)]
pub trait IntoPayload<'a> {
    #[doc(hidden)]
    fn into_payload(self) -> AnyPayload<'a>;
}

impl<'a> IntoPayload<'a> for &'a str {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Text(Cow::Borrowed(self)))
    }
}

impl<'a> IntoPayload<'a> for &'a [u8] {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Bytes(Cow::Borrowed(self)))
    }
}

impl<'a> IntoPayload<'a> for String {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Text(Cow::Owned(self)))
    }
}

impl<'a> IntoPayload<'a> for Cow<'a, str> {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Text(self))
    }
}

impl<'a> IntoPayload<'a> for Vec<u8> {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Bytes(Cow::Owned(self)))
    }
}

impl<'a> IntoPayload<'a> for Text {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Owned(SchemaAndValue { schema: Some(Schema::string()), value: Some(Value::String(self)) }))
    }
}

impl<'a> IntoPayload<'a> for Bytes {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Owned(SchemaAndValue { schema: Some(Schema::bytes()), value: Some(Value::Bytes(self)) }))
    }
}

impl<'a> IntoPayload<'a> for SchemaAndValue {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Owned(self))
    }
}

/// A value without a schema.
impl<'a> IntoPayload<'a> for Value {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(Field::Owned(SchemaAndValue { schema: None, value: Some(self) }))
    }
}

impl<'a, T: IntoPayload<'a>> IntoPayload<'a> for Option<T> {
    fn into_payload(self) -> AnyPayload<'a> {
        self.map_or(AnyPayload(Field::Null), T::into_payload)
    }
}

impl<'a, T: ConnectData> IntoPayload<'a> for &'a T {
    fn into_payload(self) -> AnyPayload<'a> {
        AnyPayload(if let Some(text) = self.as_text() {
            Field::Text(Cow::Borrowed(text))
        } else if let Some(bytes) = self.as_bytes() {
            Field::Bytes(Cow::Borrowed(bytes))
        } else {
            Field::Owned(SchemaAndValue { schema: Some(T::schema()), value: self.to_value() })
        })
    }
}

macro_rules! numbers {
    ($($t:ty => $schema:ident, $variant:ident;)*) => {$(
        impl<'a> IntoPayload<'a> for $t {
            fn into_payload(self) -> AnyPayload<'a> {
                let value = Some(Value::$variant(self));
                AnyPayload(Field::Owned(SchemaAndValue { schema: Some(Schema::$schema()), value }))
            }
        }
    )*};
}
numbers! {
    i8 => int8, Int8; i16 => int16, Int16; i32 => int32, Int32; i64 => int64, Int64;
    f32 => float32, Float32; f64 => float64, Float64; bool => boolean, Boolean;
}
