//! The setting that all converters have, and how their settings are parsed.

use connect_sdk::config::{Config, ConfigDef, ConfigErrors, ConfigKey, ConfigType, Importance, Validator};
use connect_sdk::converter::ConverterKind;
use connect_sdk::erased::Properties;

const CONVERTER_TYPE: &str = "converter.type";

/// The definition that every converter of keys and values begins with.
pub(super) fn config_def() -> ConfigDef {
    ConfigDef::new().define(
        ConfigKey::new(CONVERTER_TYPE, ConfigType::String)
            .validator(Validator::valid_string(
                [ConverterKind::Key, ConverterKind::Value, ConverterKind::Header].map(ConverterKind::name),
            ))
            .importance(Importance::Low)
            .doc("What the converter is used for; the worker sets it."),
    )
}

/// Parses the settings of a converter that serves this part of records.
pub(super) fn parse(def: &ConfigDef, properties: &Properties, kind: ConverterKind) -> Result<Config, ConfigErrors> {
    let mut properties = properties.clone();
    properties.insert(CONVERTER_TYPE.to_owned(), kind.name().to_owned());
    def.parse(&properties)
}

/// As [`parse`], for a converter that has no settings of its own.
pub(super) fn check(properties: &Properties, kind: ConverterKind) -> Result<(), ConfigErrors> {
    parse(&config_def(), properties, kind).map(|_| ())
}
