//! Checks that several transformations share, and short forms for their errors.

use connect_sdk::config::{ConfigError, ConfigErrors, Validator};

/// One problem of one key.
pub(super) fn wrong(key: &str, message: impl Into<String>) -> ConfigErrors {
    ConfigErrors::from(ConfigError::on(key, message))
}

/// A list of different items, none of them empty, at least one.
pub(super) fn distinct_items() -> Validator {
    Validator::any_non_duplicate_values(false, false)
}

/// A text taken apart as Java's `split(":")`: empty parts at the end do not count.
pub(super) fn split_at_colons(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(':').collect();
    while parts.len() > 1 && parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}
