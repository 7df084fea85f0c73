//! `ByteArrayConverter`: bytes as they are.

use std::sync::Arc;

use bytes::Bytes;
use connect_sdk::converter::{ConverterClass, PassThrough};
use connect_sdk::data::{DataError, Schema, SchemaAndValue, Type, Value};
use connect_sdk::erased::DynConverter;
use connect_sdk::source::PayloadRef;

use super::KAFKA_VERSION;
use super::settings;

/// The class, for the registry.
pub(super) const CLASS: ConverterClass = ConverterClass {
    class: "org.apache.kafka.connect.converters.ByteArrayConverter",
    version: KAFKA_VERSION,
    name: None,
    doc: "",
    type_name: "",
    config_def: settings::config_def,
    converter: Some(|properties, kind| settings::check(properties, kind).map(|()| Arc::new(ByteArrayConverter) as _)),
    header_converter: Some(|_| Ok(Arc::new(ByteArrayConverter))),
};

struct ByteArrayConverter;

impl DynConverter for ByteArrayConverter {
    fn write(&self, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        let (schema, value) = match value {
            PayloadRef::Null => return Ok(false),
            PayloadRef::Text(_) => return Err(unfit("STRING")),
            PayloadRef::Bytes(bytes) => {
                out.extend_from_slice(bytes);
                return Ok(true);
            }
            PayloadRef::Value(schema, value) => (schema, value),
        };
        if let Some(schema) = schema.filter(|schema| schema.kind() != Type::Bytes) {
            return Err(unfit(schema.kind().name()));
        }
        match value {
            None => Ok(false),
            Some(Value::Bytes(bytes)) => {
                out.extend_from_slice(bytes);
                Ok(true)
            }
            Some(other) => Err(unfit(other.kind_name())),
        }
    }

    fn read(&self, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::new(Some(Schema::optional_bytes()), bytes.cloned().map(Value::Bytes)))
    }

    fn pass_through(&self) -> PassThrough {
        PassThrough { text: false, bytes: true }
    }

    fn class_name(&self) -> &'static str {
        CLASS.class
    }
}

fn unfit(kind: &str) -> DataError {
    DataError::new(format!("ByteArrayConverter writes values of type BYTES, and this one is of type {kind}"))
}
