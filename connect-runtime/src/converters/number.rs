//! The converters of numbers: `ShortConverter`, `IntegerConverter`, `LongConverter`, `FloatConverter`,
//! `DoubleConverter`. A number is its bytes, the most significant first.

use std::sync::Arc;

use bytes::Bytes;
use connect_sdk::converter::ConverterClass;
use connect_sdk::data::{DataError, Schema, SchemaAndValue, Value};
use connect_sdk::erased::DynConverter;
use connect_sdk::source::PayloadRef;

use super::KAFKA_VERSION;
use super::settings;

/// The class of the converter for one type of number.
macro_rules! class {
    ($name:literal, $type:ty, $variant:ident, $schema:ident) => {{
        /// The converter for this type; the schema of what it writes is not looked at.
        struct NumberConverter;

        impl DynConverter for NumberConverter {
            fn write(&self, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
                let kind = match value {
                    PayloadRef::Null | PayloadRef::Value(_, None) => return Ok(false),
                    PayloadRef::Value(_, Some(Value::$variant(value))) => {
                        out.extend_from_slice(&value.to_be_bytes());
                        return Ok(true);
                    }
                    PayloadRef::Value(_, Some(other)) => other.kind_name(),
                    PayloadRef::Text(_) => "STRING",
                    PayloadRef::Bytes(_) => "BYTES",
                };
                let wanted = Schema::$schema().kind();
                Err(DataError::new(format!(
                    concat!($name, "Converter writes values of type {}, and this one is of type {}"),
                    wanted, kind
                )))
            }

            fn read(&self, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
                let value = match bytes {
                    None => None,
                    Some(bytes) => {
                        let bytes = bytes[..].try_into().map_err(|_| wrong_length($name, size_of::<$type>(), bytes))?;
                        Some(Value::$variant(<$type>::from_be_bytes(bytes)))
                    }
                };
                Ok(SchemaAndValue::new(Some(Schema::$schema()), value))
            }

            fn class_name(&self) -> &'static str {
                JAVA
            }
        }

        const JAVA: &str = concat!("org.apache.kafka.connect.converters.", $name, "Converter");
        ConverterClass {
            class: JAVA,
            version: KAFKA_VERSION,
            name: None,
            doc: "",
            type_name: "",
            config_def: settings::config_def,
            converter: Some(|properties, kind| {
                settings::check(properties, kind).map(|()| Arc::new(NumberConverter) as _)
            }),
            header_converter: Some(|_| Ok(Arc::new(NumberConverter))),
        }
    }};
}

/// The classes, for the registry.
pub(super) const CLASSES: [ConverterClass; 5] = [
    class!("Short", i16, Int16, optional_int16),
    class!("Integer", i32, Int32, optional_int32),
    class!("Long", i64, Int64, optional_int64),
    class!("Float", f32, Float32, optional_float32),
    class!("Double", f64, Float64, optional_float64),
];

fn wrong_length(name: &str, wanted: usize, bytes: &Bytes) -> DataError {
    DataError::new(format!("{name}Converter reads {wanted} bytes, but there are {}", bytes.len()))
}
