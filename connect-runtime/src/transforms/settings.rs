//! Short forms for the keys of transformations and predicates, and checks that several of them share.

use connect_sdk::config::{
    Config, ConfigError, ConfigErrors, ConfigKey, ConfigType, Importance, ParsedValue, Validator,
};
use connect_sdk::data::Text;
use connect_sdk::java::regex::JavaRegex;

/// A required key.
pub(super) fn key(name: &'static str, kind: ConfigType, importance: Importance, doc: &'static str) -> ConfigKey {
    ConfigKey::new(name, kind).importance(importance).doc(doc)
}

const REPLACE_NULL: &str = "replace.null.with.default";

/// Whether a null field is read as its default.
pub(super) fn replace_null_key() -> ConfigKey {
    key(
        REPLACE_NULL,
        ConfigType::Boolean,
        Importance::Medium,
        "Whether a field that is null and has a default gets the default.",
    )
    .default("true")
}

/// What [`replace_null_key`] is set to.
pub(super) fn replaces_null(config: &Config) -> bool {
    config.boolean(REPLACE_NULL).unwrap_or(true)
}

/// The text of a STRING key that has a default or is required.
pub(super) fn text(config: &Config, key: &str) -> Text {
    config.string(key).map(Text::from).unwrap_or_default()
}

/// The items of a LIST key.
pub(super) fn texts(config: &Config, key: &str) -> Vec<Text> {
    config.list(key).unwrap_or_default().iter().map(Text::from).collect()
}

/// One problem of one key.
pub(super) fn wrong(key: &str, message: impl Into<String>) -> ConfigErrors {
    ConfigErrors::from(ConfigError::on(key, message))
}

/// A list of different items, none of them empty, at least one.
pub(super) fn distinct_items() -> Validator {
    Validator::any_non_duplicate_values(false, false)
}

/// A Java regular expression.
pub(super) fn valid_regex() -> Validator {
    Validator::lambda("valid regex", |key, value| match value {
        ParsedValue::String(pattern) => JavaRegex::new(pattern)
            .map(drop)
            .map_err(|error| ConfigError::invalid(key, value, &format!("Invalid regex: {error}"))),
        // That it is missing was said already.
        _ => Ok(()),
    })
}

/// A text taken apart as Java's `split(":")`: empty parts at the end do not count.
pub(super) fn split_at_colons(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(':').collect();
    while parts.len() > 1 && parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}
