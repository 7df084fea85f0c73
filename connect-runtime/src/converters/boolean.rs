//! `BooleanConverter`: a truth value as one byte.

use std::sync::Arc;

use bytes::Bytes;
use connect_sdk::converter::ConverterClass;
use connect_sdk::data::{DataError, Schema, SchemaAndValue, Type, Value};
use connect_sdk::erased::DynConverter;
use connect_sdk::source::PayloadRef;

use super::KAFKA_VERSION;
use super::settings;

/// The class, for the registry.
pub(super) const CLASS: ConverterClass = ConverterClass {
    class: "org.apache.kafka.connect.converters.BooleanConverter",
    version: KAFKA_VERSION,
    name: None,
    doc: "",
    type_name: "",
    config_def: settings::config_def,
    converter: Some(|properties, kind| settings::check(properties, kind).map(|()| Arc::new(BooleanConverter) as _)),
    header_converter: Some(|_| Ok(Arc::new(BooleanConverter))),
};

struct BooleanConverter;

impl DynConverter for BooleanConverter {
    fn write(&self, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        let (schema, value) = match value {
            PayloadRef::Null => return Ok(false),
            PayloadRef::Text(_) => return Err(unfit("STRING")),
            PayloadRef::Bytes(_) => return Err(unfit("BYTES")),
            PayloadRef::Value(schema, value) => (schema, value),
        };
        if let Some(schema) = schema.filter(|schema| schema.kind() != Type::Boolean) {
            return Err(unfit(schema.kind().name()));
        }
        match value {
            None => Ok(false),
            Some(Value::Boolean(value)) => {
                out.push(u8::from(*value));
                Ok(true)
            }
            Some(other) => Err(unfit(other.kind_name())),
        }
    }

    fn read(&self, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        let value = match bytes.map(|bytes| &bytes[..]) {
            None => None,
            Some([0]) => Some(Value::Boolean(false)),
            Some([1]) => Some(Value::Boolean(true)),
            Some([byte]) => {
                return Err(DataError::new(format!("the byte {byte} is no truth value; it must be 0 or 1")));
            }
            Some(bytes) => {
                return Err(DataError::new(format!("a truth value is one byte, but there are {} bytes", bytes.len())));
            }
        };
        Ok(SchemaAndValue::new(Some(Schema::optional_boolean()), value))
    }

    fn class_name(&self) -> &'static str {
        CLASS.class
    }
}

fn unfit(kind: &str) -> DataError {
    DataError::new(format!("BooleanConverter writes values of type BOOLEAN, and this one is of type {kind}"))
}
