//! Converters: between Connect values and the bytes in a topic.

use crate::{
    config::{ConfigDef, ConfigErrors},
    data::{DataError, SchemaAndValue},
    erased::Properties,
    source::PayloadRef,
};
use bytes::Bytes;

/// Which part of a record a converter serves; Java's `converter.type`.
#[allow(clippy::exhaustive_enums, reason = "a record has no other parts")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConverterKind {
    /// The key.
    Key,
    /// The value.
    Value,
    /// A header's value.
    Header,
}

impl ConverterKind {
    /// The text of `converter.type`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Value => "value",
            Self::Header => "header",
        }
    }
}

/// How a converter treats borrowed text and bytes: a runtime may then pass them on without a call for each record.
#[allow(clippy::exhaustive_structs, reason = "text and bytes are all that a batch lends")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassThrough {
    /// UTF-8 text is written as it is.
    pub text: bool,
    /// Bytes are written as they are.
    pub bytes: bool,
}

/// Turns values into bytes for a topic and back. One value serves all tasks of a connector that share its settings.
///
/// Keeps the behaviour of `org.apache.kafka.connect.storage.Converter`.
pub trait Converter: Send + Sync {
    /// Appends the bytes of a value to `out`. False means a null in Kafka: nothing was appended.
    ///
    /// Called by a task once for each key and value.
    ///
    /// # Errors
    /// The value does not fit the converter; `errors.tolerance` decides what becomes of the record. What was appended
    /// before the error is cut off by the caller. [`DataError::retriable`] has it tried again.
    fn write(&self, topic: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError>;

    /// Reads a value from the bytes of a topic; `None` is a null in Kafka. Text and bytes may be slices of `bytes`.
    ///
    /// # Errors
    /// The bytes are not what the converter expects; `errors.tolerance` decides what becomes of the record.
    /// [`DataError::retriable`] has it tried again.
    fn read(&self, topic: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError>;

    /// What [`Self::write`] does to text and bytes; the default is to call it.
    fn pass_through(&self) -> PassThrough {
        PassThrough { text: false, bytes: false }
    }

    /// The name by which errors are reported: the Java class that it stands for; the Rust type by default.
    fn class_name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

impl std::fmt::Debug for dyn Converter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Converter")
    }
}

/// Turns header values into bytes and back; every [`Converter`] can serve as one.
///
/// Keeps the behaviour of `org.apache.kafka.connect.storage.HeaderConverter`.
pub trait HeaderConverter: Send + Sync {
    /// As [`Converter::write`], for the header `name`.
    ///
    /// # Errors
    /// As there.
    fn write_header(
        &self,
        topic: &str,
        name: &str,
        value: PayloadRef<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool, DataError>;

    /// As [`Converter::read`], for the header `name`.
    ///
    /// # Errors
    /// As there.
    fn read_header(&self, topic: &str, name: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError>;

    /// As [`Converter::class_name`].
    fn header_class_name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

impl std::fmt::Debug for dyn HeaderConverter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeaderConverter")
    }
}

impl<C: Converter> HeaderConverter for C {
    fn write_header(&self, topic: &str, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        self.write(topic, value, out)
    }

    fn read_header(&self, topic: &str, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        self.read(topic, bytes)
    }

    fn header_class_name(&self) -> &'static str {
        self.class_name()
    }
}

/// A converter made, for use as key or value converter.
pub type BoxConverter = std::sync::Arc<dyn Converter>;
/// A header converter made.
pub type BoxHeaderConverter = std::sync::Arc<dyn HeaderConverter>;

/// Makes a converter for keys or values.
pub type MakeConverter = fn(&Properties, ConverterKind) -> Result<BoxConverter, ConfigErrors>;
/// Makes a header converter.
pub type MakeHeaderConverter = fn(&Properties) -> Result<BoxHeaderConverter, ConfigErrors>;

/// A converter class: what can be asked before one is made.
#[allow(clippy::exhaustive_structs, reason = "whoever adds a converter writes it out whole")]
#[derive(Clone, Copy)]
pub struct ConverterClass {
    /// The Java class, which users write in full or by its short name.
    pub java: &'static str,
    /// The version of the crate that defines it.
    pub version: &'static str,
    /// Its configuration keys, without the prefix `key.converter.` or the like.
    pub config_def: fn() -> ConfigDef,
    /// Makes one for keys or values; `None` if the class converts only headers.
    pub converter: Option<MakeConverter>,
    /// Makes one for headers; `None` if the class does not convert headers.
    pub header_converter: Option<MakeHeaderConverter>,
}

impl std::fmt::Debug for ConverterClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConverterClass({})", self.java)
    }
}
