//! `StringConverter`: text in any charset; other values as Java's `toString` gives them.

use std::sync::Arc;

use bytes::Bytes;
use connect_sdk::config::{ConfigDef, ConfigError, ConfigErrors, ConfigKey, ConfigType, Importance, Width};
use connect_sdk::converter::{ConverterClass, ConverterKind, PassThrough};
use connect_sdk::data::{DataError, Schema, SchemaAndValue, Value, value_text};
use connect_sdk::erased::DynConverter;
use connect_sdk::erased::Properties;
use connect_sdk::source::PayloadRef;

use super::KAFKA_VERSION;
use super::charset::Charset;
use super::settings;

/// The class, for the registry.
pub(super) const CLASS: ConverterClass = ConverterClass {
    class: "org.apache.kafka.connect.storage.StringConverter",
    version: KAFKA_VERSION,
    name: None,
    doc: "",
    type_name: "",
    config_def,
    converter: Some(|properties, kind| Ok(Arc::new(StringConverter::new(properties, kind)?))),
    header_converter: Some(|properties| Ok(Arc::new(StringConverter::new(properties, ConverterKind::Header)?))),
};

const ENCODING: &str = "converter.encoding";

fn config_def() -> ConfigDef {
    settings::config_def().define(
        ConfigKey::new(ENCODING, ConfigType::String)
            .default("UTF-8")
            .importance(Importance::High)
            .width(Width::Medium)
            .display_name("Encoding")
            .doc("The charset of the text, by one of its Java names. Characters that it lacks are written as `?`; bytes that \
                  it cannot read become U+FFFD."),
    )
}

struct StringConverter {
    charset: Charset,
}

impl StringConverter {
    fn new(properties: &Properties, kind: ConverterKind) -> Result<Self, ConfigErrors> {
        let config = settings::parse(&config_def(), properties, kind)?;
        let name = config.string(ENCODING).unwrap_or("UTF-8");
        let charset = Charset::for_name(name).ok_or_else(|| {
            let mut errors = ConfigErrors::new();
            errors.push(ConfigError::on(
                ENCODING,
                format!(
                    "Invalid value {name} for configuration {ENCODING}: unknown or unsupported charset; \
                     examples are UTF-8, ISO-8859-1, US-ASCII, UTF-16, windows-1252, Shift_JIS, GB18030"
                ),
            ));
            errors
        })?;
        Ok(Self { charset })
    }
}

impl DynConverter for StringConverter {
    fn write(&self, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        match value {
            PayloadRef::Null | PayloadRef::Value(_, None) => return Ok(false),
            PayloadRef::Text(text) => self.charset.encode(text, out),
            PayloadRef::Value(_, Some(Value::String(text))) => self.charset.encode(text, out),
            PayloadRef::Value(_, Some(value)) => self.charset.encode(&value_text(value), out),
            PayloadRef::Bytes(bytes) => {
                let value = Value::Bytes(Bytes::copy_from_slice(bytes));
                self.charset.encode(&value_text(&value), out);
            }
        }
        Ok(true)
    }

    fn read(&self, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        let value = bytes.map(|bytes| Value::String(self.charset.decode(bytes)));
        Ok(SchemaAndValue::new(Some(Schema::optional_string()), value))
    }

    fn pass_through(&self) -> PassThrough {
        PassThrough { text: self.charset.is_utf8(), bytes: false }
    }

    fn class_name(&self) -> &'static str {
        CLASS.class
    }
}
