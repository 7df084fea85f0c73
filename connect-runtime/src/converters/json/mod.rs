//! `JsonConverter`: values as JSON, with their schema in every message or without one.
//!
//! The parts: a scanner of JSON's tokens, a reader and a writer of values, a reader and a writer of schemas, a cache of
//! schemas, and the form that source partitions and offsets have in the offsets topic.

mod base64;
mod config;
mod encoding;
mod number;
pub mod offsets;
mod reader;
mod scanner;
mod schema_cache;
mod schema_reader;
mod schema_writer;
mod skip;
mod text;
mod writer;

#[cfg(test)]
mod tests;

use super::KAFKA_VERSION;
use std::sync::Arc;

use bytes::Bytes;
use connect_sdk::converter::{ConverterClass, ConverterKind};
use connect_sdk::data::{DataError, Schema, SchemaAndValue, Value};
use connect_sdk::erased::DynConverter;
use connect_sdk::source::PayloadRef;

use self::config::JsonConfig;
pub use self::reader::read_schemaless;
use self::reader::read_value;
use self::scanner::{Scanner, Token};
use self::schema_cache::{ReadSchemas, WrittenSchemas};
use self::schema_reader::read_schema;
use self::schema_writer::write_schema;
use self::writer::Writer;
pub use self::writer::write_schemaless;
use super::settings;

/// The class, for the registry.
pub(super) const CLASS: ConverterClass = ConverterClass {
    class: "org.apache.kafka.connect.json.JsonConverter",
    version: KAFKA_VERSION,
    name: None,
    doc: "",
    type_name: "",
    config_def: config::config_def,
    converter: Some(|properties, kind| Ok(Arc::new(JsonConverter::new(properties, kind)?))),
    header_converter: Some(|properties| Ok(Arc::new(JsonConverter::new(properties, ConverterKind::Header)?))),
};

/// Writes values as JSON and reads them back, as `org.apache.kafka.connect.json.JsonConverter`.
///
/// With schemas a message is `{"schema":..,"payload":..}`; without, it is the value alone.
pub struct JsonConverter {
    config: JsonConfig,
    written: WrittenSchemas,
    read: ReadSchemas,
}

impl std::fmt::Debug for JsonConverter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonConverter").field("config", &self.config).finish_non_exhaustive()
    }
}

impl JsonConverter {
    /// A converter with these settings, whose keys have no prefix.
    ///
    /// # Errors
    /// Tells every key whose value is wrong.
    pub fn new(
        properties: &connect_sdk::erased::Properties,
        kind: ConverterKind,
    ) -> Result<Self, connect_sdk::config::ConfigErrors> {
        let config = JsonConfig::new(&settings::parse(&config::config_def(), properties, kind)?)?;
        let size = config.schemas_cache_size;
        Ok(Self { config, written: WrittenSchemas::new(size), read: ReadSchemas::new(size) })
    }

    /// Appends all that stands before the value: the opening bracket, the schema, the name of the other member.
    fn open_envelope(&self, schema: Option<&Schema>, out: &mut Vec<u8>) -> Result<(), DataError> {
        let Some(schema) = schema else {
            out.extend_from_slice(br#"{"schema":null,"payload":"#);
            return Ok(());
        };
        if self.written.write(schema, out) {
            return Ok(());
        }
        let start = out.len();
        out.extend_from_slice(br#"{"schema":"#);
        write_schema(Some(schema), self.config.decimal_format, self.config.replace_null_with_default, out)?;
        out.extend_from_slice(br#","payload":"#);
        self.written.insert(schema, &out[start..]);
        Ok(())
    }

    fn writer<'o>(&self, out: &'o mut Vec<u8>) -> Writer<'o> {
        let open = usize::from(self.config.schemas_enable);
        Writer::new(out, self.config.decimal_format, self.config.replace_null_with_default, open)
    }

    fn read_utf8(&self, bytes: &Bytes) -> Result<SchemaAndValue, DataError> {
        let mut scanner = Scanner::shared(bytes);
        let replace_null = self.config.replace_null_with_default;
        let read = match &self.config.schema {
            _ if !self.config.schemas_enable => {
                if scanner.is_blank() {
                    return Ok(SchemaAndValue::NULL);
                }
                SchemaAndValue::new(None, read_value(&mut scanner, None, replace_null)?)
            }
            Some(schema) => {
                if scanner.is_blank() {
                    return Err(DataError::new("the message is empty, and not JSON"));
                }
                let value = read_value(&mut scanner, Some(schema), replace_null)?;
                SchemaAndValue::new(Some(schema.clone()), value)
            }
            None => self.read_envelope(&mut scanner)?,
        };
        scanner.finish()?;
        Ok(read)
    }

    /// Reads `{"schema":..,"payload":..}`, the members in any order, the last one of a name.
    fn read_envelope(&self, scanner: &mut Scanner<'_>) -> Result<SchemaAndValue, DataError> {
        if scanner.is_blank() || !matches!(scanner.token()?, Token::Object) || scanner.close_if_empty(b'}') {
            return Err(no_envelope());
        }
        let mut schema = None;
        let mut payload = None;
        // The value, once the schema and the payload behind it were read.
        let mut value;
        loop {
            let name = scanner.name()?;
            match name.as_bytes() {
                b"schema" => {
                    schema = Some(self.read_schema(scanner)?);
                    value = None;
                }
                b"payload" => {
                    payload = Some(scanner.position());
                    value = match &schema {
                        Some(schema) => Some(self.read_payload(scanner, schema.as_ref())?),
                        None => {
                            scanner.skip_value()?;
                            None
                        }
                    };
                }
                _ => return Err(no_envelope()),
            }
            if !scanner.another(b'}')? {
                break;
            }
        }
        let (Some(schema), Some(payload)) = (schema, payload) else { return Err(no_envelope()) };
        let value = match value {
            Some(value) => value,
            // The payload came before its schema.
            None => self.read_payload(&mut scanner.at(payload, 1), schema.as_ref())?,
        };
        Ok(SchemaAndValue::new(schema, value))
    }

    fn read_payload(&self, scanner: &mut Scanner<'_>, schema: Option<&Schema>) -> Result<Option<Value>, DataError> {
        read_value(scanner, schema, self.config.replace_null_with_default)
    }

    fn read_schema(&self, scanner: &mut Scanner<'_>) -> Result<Option<Schema>, DataError> {
        scanner.skip_blanks();
        if let Some((schema, length)) = self.read.starting(scanner.rest()) {
            scanner.advance(length);
            return Ok(Some(schema));
        }
        let start = scanner.position();
        scanner.skip_value()?;
        let text = scanner.since(start);
        if let Some(schema) = self.read.get(text) {
            return Ok(Some(schema));
        }
        let schema = read_schema(&mut scanner.at(start, scanner.depth()), self.config.replace_null_with_default)?;
        if let Some(schema) = &schema {
            self.read.insert(text, schema);
        }
        Ok(schema)
    }
}

fn no_envelope() -> DataError {
    DataError::new(
        "with `schemas.enable=true` a message is an object with exactly the members `schema` and `payload`, and this one \
         is not; set `schemas.enable=false` to read plain JSON",
    )
}

impl DynConverter for JsonConverter {
    fn write(&self, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        let schema = match &value {
            PayloadRef::Null | PayloadRef::Value(None, None) => return Ok(false),
            PayloadRef::Text(_) => Some(&Schema::string()),
            PayloadRef::Bytes(_) => Some(&Schema::bytes()),
            PayloadRef::Value(schema, _) => *schema,
        };
        if self.config.schemas_enable {
            self.open_envelope(schema, out)?;
        }
        let mut writer = self.writer(out);
        match value {
            PayloadRef::Text(text) => writer.text(text),
            PayloadRef::Bytes(bytes) => writer.bytes(bytes),
            PayloadRef::Value(schema, value) => writer.value(schema, value)?,
            _ => {}
        }
        if self.config.schemas_enable {
            out.push(b'}');
        }
        Ok(true)
    }

    fn read(&self, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        match bytes {
            None => Ok(SchemaAndValue::NULL),
            Some(bytes) => self.read_utf8(encoding::to_utf8(bytes)?.as_ref()),
        }
    }

    fn class_name(&self) -> &'static str {
        CLASS.class
    }
}
