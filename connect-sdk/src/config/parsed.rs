//! A configuration that was read: typed values by key.

use std::collections::BTreeMap;

use super::{ParsedValue, Password};

/// The values of every key of a definition.
///
/// The typed readers answer `None` for a key that is null, that the definition does not know, or that has another type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config(BTreeMap<String, ParsedValue>);

impl Config {
    /// Puts a value, replacing the one that was there.
    pub fn insert(&mut self, key: impl Into<String>, value: ParsedValue) {
        self.0.insert(key.into(), value);
    }

    /// The value of a key, if the definition knows it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&ParsedValue> {
        self.0.get(key)
    }

    /// All keys with their values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParsedValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The values of the keys that start with `prefix`, under their names without it.
    #[must_use]
    pub fn unprefixed(&self, prefix: &str) -> Self {
        let strip = |(key, value): (&String, &ParsedValue)| Some((key.strip_prefix(prefix)?.to_owned(), value.clone()));
        Self(self.0.iter().filter_map(strip).collect())
    }

    /// The value of a BOOLEAN key.
    #[must_use]
    pub fn boolean(&self, key: &str) -> Option<bool> {
        if let ParsedValue::Boolean(value) = self.get(key)? { Some(*value) } else { None }
    }

    /// The value of an INT, SHORT or LONG key.
    #[must_use]
    pub fn integer(&self, key: &str) -> Option<i64> {
        match self.get(key)? {
            ParsedValue::Int(value) => Some(i64::from(*value)),
            ParsedValue::Short(value) => Some(i64::from(*value)),
            ParsedValue::Long(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of a DOUBLE key.
    #[must_use]
    pub fn double(&self, key: &str) -> Option<f64> {
        if let ParsedValue::Double(value) = self.get(key)? { Some(*value) } else { None }
    }

    /// The value of a STRING or CLASS key.
    #[must_use]
    pub fn string(&self, key: &str) -> Option<&str> {
        if let ParsedValue::String(value) | ParsedValue::Class(value) = self.get(key)? { Some(value) } else { None }
    }

    /// The items of a LIST key.
    #[must_use]
    pub fn list(&self, key: &str) -> Option<&[String]> {
        if let ParsedValue::List(items) = self.get(key)? { Some(items) } else { None }
    }

    /// The value of a PASSWORD key.
    #[must_use]
    pub fn password(&self, key: &str) -> Option<&Password> {
        if let ParsedValue::Password(value) = self.get(key)? { Some(value) } else { None }
    }
}

impl FromIterator<(String, ParsedValue)> for Config {
    fn from_iter<I: IntoIterator<Item = (String, ParsedValue)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}
