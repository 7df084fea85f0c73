//! What can be configured about the JSON converter.

use connect_sdk::config::{
    Config, ConfigDef, ConfigError, ConfigErrors, ConfigKey, ConfigType, Importance, Validator, Width,
};
use connect_sdk::data::{DataError, Schema};

use super::scanner::Scanner;
use super::schema_reader::read_schema;
use crate::converters::settings;

/// How a Decimal is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecimalFormat {
    /// Text: the bytes of the unscaled number in base64.
    Base64,
    /// A JSON number.
    Numeric,
}

/// The settings, parsed.
#[derive(Debug, Clone)]
pub(super) struct JsonConfig {
    pub(super) schemas_enable: bool,
    pub(super) schemas_cache_size: usize,
    pub(super) decimal_format: DecimalFormat,
    pub(super) replace_null_with_default: bool,
    /// The schema of every message that is read; the message is then the value alone.
    pub(super) schema: Option<Schema>,
}

const SCHEMAS_ENABLE: &str = "schemas.enable";
const SCHEMAS_CACHE_SIZE: &str = "schemas.cache.size";
const SCHEMA_CONTENT: &str = "schema.content";
const DECIMAL_FORMAT: &str = "decimal.format";
const REPLACE_NULL_WITH_DEFAULT: &str = "replace.null.with.default";

/// The keys of the JSON converter.
pub(super) fn config_def() -> ConfigDef {
    const SCHEMAS: &str = "Schemas";
    const SERIALIZATION: &str = "Serialization";
    settings::config_def()
        .define(
            ConfigKey::new(SCHEMAS_ENABLE, ConfigType::Boolean)
                .default("true")
                .importance(Importance::High)
                .group(SCHEMAS, 0)
                .width(Width::Medium)
                .display_name("Enable Schemas")
                .doc("Whether every message carries its schema: an object with the members `schema` and `payload`. \
                      Otherwise messages are plain JSON and data has no schema."),
        )
        .define(
            ConfigKey::new(SCHEMAS_CACHE_SIZE, ConfigType::Int)
                .default("1000")
                .importance(Importance::High)
                .group(SCHEMAS, 1)
                .width(Width::Medium)
                .display_name("Schema Cache Size")
                .doc("How many schemas are remembered in each direction, so that they are not written and parsed anew \
                      for every message."),
        )
        .define(
            ConfigKey::new(SCHEMA_CONTENT, ConfigType::String)
                .null_default()
                .importance(Importance::High)
                .group(SCHEMAS, 2)
                .width(Width::Medium)
                .display_name("Schema Content")
                .doc("A schema in JSON for every message that is read with schemas enabled; the message is then the value \
                      alone, without the object around it."),
        )
        .define(
            ConfigKey::new(DECIMAL_FORMAT, ConfigType::String)
                .default("BASE64")
                .validator(Validator::case_insensitive_valid_string(["BASE64", "NUMERIC"]))
                .importance(Importance::Low)
                .group(SERIALIZATION, 0)
                .width(Width::Medium)
                .display_name("Decimal Format")
                .doc("How a Decimal is written: `BASE64` as text that holds its bytes, `NUMERIC` as a number. Both are read."),
        )
        .define(
            ConfigKey::new(REPLACE_NULL_WITH_DEFAULT, ConfigType::Boolean)
                .default("true")
                .importance(Importance::Low)
                .group(SERIALIZATION, 1)
                .width(Width::Medium)
                .display_name("Replace null with default")
                .doc("Whether a null becomes the default of its schema, if there is one, when it is written and when it is read."),
        )
}

impl JsonConfig {
    /// The settings in parsed properties.
    pub(super) fn new(config: &Config) -> Result<Self, ConfigErrors> {
        let numeric = config.string(DECIMAL_FORMAT).is_some_and(|format| format.eq_ignore_ascii_case("NUMERIC"));
        let replace_null_with_default = config.boolean(REPLACE_NULL_WITH_DEFAULT).unwrap_or(true);
        let schema = match config.string(SCHEMA_CONTENT) {
            None | Some("") => None,
            Some(text) => parse_schema(text, replace_null_with_default).map_err(|why| {
                let mut errors = ConfigErrors::new();
                errors.push(ConfigError::on(SCHEMA_CONTENT, format!("{SCHEMA_CONTENT} is no schema in JSON: {why}")));
                errors
            })?,
        };
        Ok(Self {
            schemas_enable: config.boolean(SCHEMAS_ENABLE).unwrap_or(true),
            schemas_cache_size: usize::try_from(config.integer(SCHEMAS_CACHE_SIZE).unwrap_or(1000)).unwrap_or(0),
            decimal_format: if numeric { DecimalFormat::Numeric } else { DecimalFormat::Base64 },
            replace_null_with_default,
            schema,
        })
    }
}

fn parse_schema(text: &str, replace_null: bool) -> Result<Option<Schema>, DataError> {
    let mut scanner = Scanner::new(text.as_bytes());
    let schema = read_schema(&mut scanner, replace_null)?;
    scanner.finish()?;
    Ok(schema)
}
