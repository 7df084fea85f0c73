//! `SimpleHeaderConverter`: header values as text, whose type is guessed when they are read.

use std::sync::Arc;

use bytes::Bytes;
use connect_sdk::config::ConfigDef;
use connect_sdk::converter::{ConverterClass, HeaderConverter};
use connect_sdk::data::{DataError, SchemaAndValue, Text, Value, Values};
use connect_sdk::source::PayloadRef;

use super::charset::utf8_text;

/// The class, for the registry.
pub(super) const CLASS: ConverterClass = ConverterClass {
    java: "org.apache.kafka.connect.storage.SimpleHeaderConverter",
    version: env!("CARGO_PKG_VERSION"),
    config_def: ConfigDef::new,
    converter: None,
    header_converter: Some(|_| Ok(Arc::new(SimpleHeaderConverter))),
};

/// The default for headers. Text comes back as what it looks like: `007` as the number 7.
struct SimpleHeaderConverter;

impl HeaderConverter for SimpleHeaderConverter {
    fn write_header(&self, _: &str, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        match value {
            PayloadRef::Null | PayloadRef::Value(_, None) => return Ok(false),
            PayloadRef::Text(text) => out.extend_from_slice(text.as_bytes()),
            PayloadRef::Value(_, Some(Value::String(text))) => out.extend_from_slice(text.as_bytes()),
            PayloadRef::Bytes(_) | PayloadRef::Value(..) => {
                let owned = value.to_owned_value();
                let text = Values::convert_to_string(owned.schema.as_ref(), owned.value.as_ref())?;
                out.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
            }
        }
        Ok(true)
    }

    fn read_header(&self, _: &str, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        let text: Option<Text> = bytes.map(utf8_text);
        Ok(text.map_or(SchemaAndValue::NULL, |text| Values::parse_string(&text)))
    }
}
