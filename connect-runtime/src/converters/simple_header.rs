//! `SimpleHeaderConverter`: header values as text, whose type is guessed when they are read.

use std::sync::Arc;

use bytes::Bytes;
use connect_sdk::config::ConfigDef;
use connect_sdk::converter::ConverterClass;
use connect_sdk::data::{DataError, SchemaAndValue, Text, Value, values};
use connect_sdk::erased::DynHeaderConverter;
use connect_sdk::source::PayloadRef;

use super::KAFKA_VERSION;
use super::charset::utf8_text;

/// The class, for the registry.
pub(super) const CLASS: ConverterClass = ConverterClass {
    class: "org.apache.kafka.connect.storage.SimpleHeaderConverter",
    version: KAFKA_VERSION,
    name: None,
    doc: "",
    type_name: "",
    config_def: ConfigDef::new,
    converter: None,
    header_converter: Some(|_| Ok(Arc::new(SimpleHeaderConverter))),
};

/// The default for headers. Text comes back as what it looks like: `007` as the number 7.
struct SimpleHeaderConverter;

impl DynHeaderConverter for SimpleHeaderConverter {
    fn write_header(&self, _: &str, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        match value {
            PayloadRef::Null | PayloadRef::Value(_, None) => return Ok(false),
            PayloadRef::Text(text) => out.extend_from_slice(text.as_bytes()),
            PayloadRef::Value(_, Some(Value::String(text))) => out.extend_from_slice(text.as_bytes()),
            PayloadRef::Value(_, Some(value)) => out.extend_from_slice(values::convert_to_string(value).as_bytes()),
            PayloadRef::Bytes(bytes) => {
                let value = Value::Bytes(Bytes::copy_from_slice(bytes));
                out.extend_from_slice(values::convert_to_string(&value).as_bytes());
            }
        }
        Ok(true)
    }

    fn read_header(&self, _: &str, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        let text: Option<Text> = bytes.map(utf8_text);
        Ok(text.map_or(SchemaAndValue::NULL, |text| values::parse_text(&text)))
    }

    fn header_class_name(&self) -> &'static str {
        CLASS.class
    }
}
