//! What is wrong with a configuration, in Kafka's words where Kafka has words for it.

use std::fmt;

use super::ParsedValue;

/// One problem of a configuration: which key, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    key: Option<String>,
    message: String,
}

impl ConfigError {
    /// A problem that belongs to no single key, such as two keys that exclude each other.
    pub fn new(message: impl Into<String>) -> Self {
        Self { key: None, message: message.into() }
    }

    /// A problem of one key; `message` is the whole text that is shown.
    pub fn on(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: Some(key.into()), message: message.into() }
    }

    /// `Invalid value <value> for configuration <key>: <why>`; a secret shows as `[hidden]`.
    #[must_use]
    pub fn invalid(key: &str, value: &ParsedValue, why: &str) -> Self {
        Self::invalid_text(key, &value.shown(), why)
    }

    /// As [`ConfigError::invalid`], for a text that could not be read as a value.
    pub(crate) fn invalid_text(key: &str, value: &str, why: &str) -> Self {
        Self::on(key, format!("Invalid value {value} for configuration {key}: {why}"))
    }

    /// The same problem under another key, for definitions that are embedded with a prefix.
    pub(crate) fn under(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), message: self.message }
    }

    /// The key that the problem belongs to.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The text that is shown to the operator.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

impl From<String> for ConfigError {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for ConfigError {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

/// Every problem of a configuration, in the order of its definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigErrors(Vec<ConfigError>);

impl ConfigErrors {
    /// No problem yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a problem.
    pub fn push(&mut self, error: ConfigError) {
        self.0.push(error);
    }

    /// The problems, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, ConfigError> {
        self.0.iter()
    }

    /// How many problems there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no problem.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Ok(value)` if there is no problem.
    ///
    /// # Errors
    /// Itself, if there is one.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            fmt::Display::fmt(error, f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

impl<E: Into<ConfigError>> From<E> for ConfigErrors {
    fn from(error: E) -> Self {
        Self(vec![error.into()])
    }
}

impl FromIterator<ConfigError> for ConfigErrors {
    fn from_iter<I: IntoIterator<Item = ConfigError>>(errors: I) -> Self {
        Self(errors.into_iter().collect())
    }
}

impl Extend<ConfigError> for ConfigErrors {
    fn extend<I: IntoIterator<Item = ConfigError>>(&mut self, errors: I) {
        self.0.extend(errors);
    }
}

impl IntoIterator for ConfigErrors {
    type Item = ConfigError;
    type IntoIter = std::vec::IntoIter<ConfigError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a ConfigErrors {
    type Item = &'a ConfigError;
    type IntoIter = std::slice::Iter<'a, ConfigError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
