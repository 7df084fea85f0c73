//! What validation says about one key.

use super::ParsedValue;

/// The outcome of validating one key; Kafka's `ConfigValue`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConfigValueReport {
    /// The key.
    pub name: String,
    /// Its value, [`ParsedValue::Null`] if it could not be read.
    pub value: ParsedValue,
    /// What the key's recommender offers.
    pub recommended: Vec<ParsedValue>,
    /// Everything that is wrong with the value.
    pub errors: Vec<String>,
    /// Whether a form should show the key.
    pub visible: bool,
}

impl ConfigValueReport {
    /// A visible key with neither value nor error.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), value: ParsedValue::Null, recommended: Vec::new(), errors: Vec::new(), visible: true }
    }

    /// The value as text, `[hidden]` for a secret; `None` for null.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.value.text()
    }
}
