//! `TextConverter`: Kafka's `StringConverter` in its default charset, for tests that have no worker.

use crate::{
    data::{DataError, Schema, SchemaAndValue, Text, Value, value_text},
    erased::DynConverter,
    source::PayloadRef,
};
use bytes::Bytes;

/// Text as UTF-8, both ways; other values as Java prints them.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct TextConverter;

impl DynConverter for TextConverter {
    fn write(&self, _topic: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        match value {
            PayloadRef::Null => return Ok(false),
            PayloadRef::Text(text) => out.extend_from_slice(text.as_bytes()),
            PayloadRef::Bytes(bytes) => out.extend_from_slice(bytes),
            PayloadRef::Value(_, None) => return Ok(false),
            PayloadRef::Value(_, Some(value)) => out.extend_from_slice(value_text(value).as_bytes()),
        }
        Ok(true)
    }

    fn read(&self, _topic: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        let text = bytes.map(|b| Text::try_from(b.clone()).map_err(|_| DataError::new("not UTF-8"))).transpose()?;
        Ok(SchemaAndValue::new(Some(Schema::optional_string()), text.map(Value::String)))
    }
}
