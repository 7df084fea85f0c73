//! Proposals for the value of a key, in the light of the other keys.

use std::fmt;

use super::{Config, ConfigError, ParsedValue};

/// Offers values for a key and decides whether a form should show it.
///
/// Called during validation only, once for each key, after all keys were read. Values are not checked against what
/// is offered.
pub trait Recommender: fmt::Debug + Send + Sync + 'static {
    /// The values that make sense for `key`.
    ///
    /// # Errors
    /// The error becomes one of the key's messages.
    fn valid_values(&self, key: &str, config: &Config) -> Result<Vec<ParsedValue>, ConfigError>;

    /// Whether `key` matters, given the other values.
    ///
    /// # Errors
    /// The error becomes one of the key's messages.
    fn visible(&self, key: &str, config: &Config) -> Result<bool, ConfigError> {
        let _ = (key, config);
        Ok(true)
    }
}
