//! Transformations, predicates and converters of every form.
// clippy
#![deny(warnings, clippy::all, clippy::pedantic, missing_docs, missing_debug_implementations)]
#![deny(unused_qualifications, elided_lifetimes_in_paths, unreachable_pub, let_underscore_drop, unsafe_code)]
#![deny(clippy::unwrap_used, clippy::use_self, clippy::missing_errors_doc, clippy::allow_attributes_without_reason)]
#![allow(clippy::unnecessary_wraps, reason = "the functions are examples")]

use connect_sdk::prelude::*;

use connect_sdk::source::PayloadRef;

#[allow(unreachable_pub, reason = "an example")]
mod settings {
    use connect_sdk::config::Validator;
    use connect_sdk::java::regex::JavaRegex;
    use connect_sdk::prelude::*;

    /// Keys.
    #[derive(Debug, ConnectorConfig)]
    #[config(of = transformation)]
    pub struct Settings {
        /// A name, which a connector could not have.
        #[config(importance = high, validator = Validator::non_empty_string(), width = long)]
        pub name: Text,
        /// Fields.
        #[config(default = ["a", "b"], validator = Validator::any_non_duplicate_values(true, false))]
        pub fields: Vec<Text>,
        /// A pattern.
        pub pattern: Option<JavaRegex>,
        /// How.
        #[config(default = Syntax::V1)]
        pub syntax: Syntax,
    }
    /// A syntax.
    #[derive(Debug, Clone, Copy, ConfigEnum)]
    #[config(case_insensitive, rename_all = "UPPERCASE")]
    pub enum Syntax {
        /// One.
        V1,
        /// Two.
        V2,
    }
}
use settings::Settings;

/// Of any plugin.
#[derive(ConnectorConfig)]
struct Prefix {
    /// What comes first.
    prefix: String,
}

/// Gives everything back.
#[transformation]
#[must_use]
pub fn same(record: ConnectRecord) -> ConnectRecord {
    record
}

/// Drops everything.
#[transformation(name = "Nothing", java = "org.example.NothingTransformation", version = "1.0")]
fn nothing(_: &Settings, _: ConnectRecord) -> Option<ConnectRecord> {
    None
}

/// Fails.
#[transformation]
fn fails(_: Part, _: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
    Err(DataError::new("no"))
}

#[transformation]
fn r#type(config: &Settings, part: Part, mut record: ConnectRecord) -> Result<ConnectRecord, DataError> {
    part.of(&mut record).value = Some(config.name.clone().into());
    Ok(record)
}

#[cfg(any())]
#[transformation]
fn left_out(_: Unknown, record: ConnectRecord) -> ConnectRecord {
    record
}

#[transformation]
#[cfg(any())]
fn left_out_too(record: ConnectRecord) -> ConnectRecord {
    record
}

struct Counted {
    seen: u64,
}

#[transformation]
impl Transformation for Counted {
    type Config = ();

    fn new((): ()) -> Result<Self, ConfigErrors> {
        Ok(Self { seen: 0 })
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        self.seen += 1;
        Ok(Some(record))
    }
}

mod pair {
    pub(crate) struct Pair;

    #[connect_sdk::transformation(java = "org.example.Pair")]
    impl connect_sdk::transform::PartTransformation for Pair {
        type Config = super::Settings;

        fn new(_: Self::Config, _: super::Part) -> Result<Self, super::ConfigErrors> {
            Ok(Self)
        }
        fn apply(&mut self, record: super::ConnectRecord) -> Result<Option<super::ConnectRecord>, super::DataError> {
            Ok(Some(record))
        }
    }
}

/// Everything.
#[predicate]
fn all(_: &ConnectRecord) -> bool {
    true
}

#[predicate(name = "some")]
fn certain(_: &Prefix, record: &ConnectRecord) -> Result<bool, DataError> {
    Ok(record.offset.is_some())
}

/// Hexadecimal.
#[derive(Debug)]
pub struct Hex;

/// Hexadecimal.
#[converter(java = "org.example.HexConverter")]
impl Converter for Hex {
    type Config = ();

    fn new((): (), _: ConverterKind) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
    fn read(
        &self,
        _: &str,
        _: Option<&connect_sdk::__private::Bytes>,
    ) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}

struct Plain;

#[converter]
impl HeaderConverter for Plain {
    type Config = ();

    fn new((): ()) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn write_header(&self, _: &str, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
    fn read_header(
        &self,
        _: &str,
        _: &str,
        _: Option<&connect_sdk::__private::Bytes>,
    ) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}

macro_rules! dropped {
    ($name:ident, $config:ty, $record:ident: $ty:ty, $body:expr, $answer:ty) => {
        #[transformation]
        fn $name(_: &$config, $record: $ty) -> $answer {
            $body
        }
    };
}
dropped!(by_macro, Settings, record: ConnectRecord, Some(record), Option<ConnectRecord>);

/// All of them.
#[must_use]
pub fn plugins() -> Plugins {
    Plugins::new()
        .transformation::<same>()
        .transformation::<nothing>()
        .transformation::<fails>()
        .transformation::<r#type>()
        .transformation::<Counted>()
        .transformation::<pair::Pair>()
        .transformation::<by_macro>()
        .predicate::<all>()
        .predicate::<certain>()
        .converter::<Hex>()
        .converter::<Plain>()
}
