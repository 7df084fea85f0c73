//! Converters: between Connect values and the bytes in a topic.

use crate::{
    config::{ConfigDef, ConfigErrors, ConnectorConfig},
    data::{DataError, SchemaAndValue},
    erased::{DynConverter, DynHeaderConverter, Properties},
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

/// Turns values into bytes for a topic and back, for keys, values and headers; on its impl stands `#[converter]`.
///
/// Keeps the behaviour of `org.apache.kafka.connect.storage.Converter`: [`Converter::write`] is its `fromConnectData`,
/// [`Converter::read`] its `toConnectData`. One value serves all tasks of a connector that share its settings, from
/// several threads.
///
/// ```
/// use bytes::Bytes;
/// use connect_sdk::source::PayloadRef;
/// use connect_sdk::prelude::*;
///
/// #[derive(ConnectorConfig)]
/// pub struct HexConfig {
///     /// Whether letters are written in upper case.
///     #[config(default = false)]
///     upper_case: bool,
/// }
///
/// pub struct Hex {
///     upper_case: bool,
/// }
///
/// /// Writes bytes as hexadecimal text, which it does not read.
/// #[converter(java = "org.example.HexConverter")]
/// impl Converter for Hex {
///     type Config = HexConfig;
///
///     fn new(config: HexConfig, _: ConverterKind) -> Result<Self, ConfigErrors> {
///         Ok(Self { upper_case: config.upper_case })
///     }
///
///     fn write(&self, _topic: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
///         let bytes: &[u8] = match value {
///             PayloadRef::Null | PayloadRef::Value(_, None) => return Ok(false),
///             PayloadRef::Bytes(bytes) => bytes,
///             PayloadRef::Value(_, Some(Value::Bytes(bytes))) => bytes,
///             _ => return Err(DataError::new("only bytes are written in hexadecimal")),
///         };
///         let digits: &[u8; 16] = if self.upper_case { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
///         for byte in bytes {
///             out.extend([digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
///         }
///         Ok(true)
///     }
///
///     fn read(&self, _topic: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
///         Ok(SchemaAndValue::new(Some(Schema::optional_bytes()), bytes.cloned().map(Value::Bytes)))
///     }
/// }
///
/// let plugins = Plugins::new().converter::<Hex>();
/// assert!(plugins.converter_class("HexConverter").is_some());
/// ```
pub trait Converter: Sized + Send + Sync + 'static {
    /// Its keys, without the prefix `key.converter.` or the like; `()` if it has none. `converter.type` belongs to the
    /// worker and is added to them.
    type Config: ConnectorConfig;

    /// Makes one for this part of records. Called for each connector, and whenever a configuration is checked.
    ///
    /// # Errors
    /// What is wrong with the settings and their definition could not tell; the connector does not start. Name the key,
    /// without the prefix, with [`ConfigError::on`](crate::config::ConfigError::on).
    fn new(config: Self::Config, kind: ConverterKind) -> Result<Self, ConfigErrors>;

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
}

/// Turns header values into bytes and back, and serves neither keys nor values: every [`Converter`] serves headers too. On
/// its impl stands `#[converter]`.
///
/// Keeps the behaviour of `org.apache.kafka.connect.storage.HeaderConverter`.
pub trait HeaderConverter: Sized + Send + Sync + 'static {
    /// As [`Converter::Config`], without `converter.type`.
    type Config: ConnectorConfig;

    /// As [`Converter::new`].
    ///
    /// # Errors
    /// As there.
    fn new(config: Self::Config) -> Result<Self, ConfigErrors>;

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
}

/// A converter with its description; implemented by `#[converter]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a converter plugin",
    label = "this type has no `#[converter]` on its `impl Converter` or `impl HeaderConverter`"
)]
pub trait ConverterPlugin: 'static {
    /// The class.
    const CLASS: ConverterClass;
}

/// A converter made, for use as key or value converter.
pub type BoxConverter = std::sync::Arc<dyn DynConverter>;
/// A header converter made.
pub type BoxHeaderConverter = std::sync::Arc<dyn DynHeaderConverter>;

/// Makes a converter for keys or values.
pub type MakeConverter = fn(&Properties, ConverterKind) -> Result<BoxConverter, ConfigErrors>;
/// Makes a header converter.
pub type MakeHeaderConverter = fn(&Properties) -> Result<BoxHeaderConverter, ConfigErrors>;

/// A converter class: what can be asked before one is made. `Plugins::converter` registers it.
#[allow(clippy::exhaustive_structs, reason = "the worker's tests write classes out whole")]
#[derive(Clone, Copy)]
pub struct ConverterClass {
    /// What users write, and what logs and REST show: a Java class, or a name of its own. Of a Java class the simple name
    /// will do, with or without `Converter` or `HeaderConverter` at its end.
    pub class: &'static str,
    /// Another name that users may write.
    pub name: Option<&'static str>,
    /// The version of the crate that defines it.
    pub version: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// The Rust type, for messages.
    pub type_name: &'static str,
    /// Its configuration keys, without the prefix `key.converter.` or the like.
    pub config_def: fn() -> ConfigDef,
    /// Makes one for keys or values; `None` if the class converts only headers.
    pub converter: Option<MakeConverter>,
    /// Makes one for headers; `None` if the class does not convert headers.
    pub header_converter: Option<MakeHeaderConverter>,
}

impl ConverterClass {
    /// Every text under which users may name it.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> + use<> {
        let class = self.class;
        let simple = class.rsplit(['.', '$']).next().filter(|simple| *simple != class);
        let of = simple.unwrap_or(class);
        let short = of.strip_suffix("HeaderConverter").or_else(|| of.strip_suffix("Converter"));
        let short = short.filter(|short| !short.is_empty());
        let name = self.name.filter(|name| *name != class && Some(*name) != simple && Some(*name) != short);
        [Some(class), simple, short, name].into_iter().flatten()
    }
}

impl std::fmt::Debug for ConverterClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConverterClass({})", self.class)
    }
}
