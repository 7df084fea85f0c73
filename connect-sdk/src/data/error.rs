//! `DataError`: a value, a schema and what was asked of them do not fit; it says where in the value.

use std::borrow::Cow;
use std::fmt;

/// Data that does not fit its schema, its type, or the operation.
///
/// The path leads to the offending part of the value, for example `order.lines[2].price`; it is empty when the whole
/// value is meant. Retrying does not help: the same record fails again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    message: Cow<'static, str>,
    path: String,
}

impl DataError {
    /// An error about the whole value.
    #[must_use]
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), path: String::new() }
    }

    /// What is wrong, without the path.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where in the value: field names joined by dots, list positions and map keys in brackets; may be empty.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The same error seen from the struct whose field `name` holds the offending value.
    #[must_use]
    pub fn in_field(mut self, name: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }

    /// The same error seen from the list that holds the offending value at `index`.
    #[must_use]
    pub fn in_element(self, index: usize) -> Self {
        self.in_brackets(&index.to_string())
    }

    /// The same error seen from the map that holds the offending value under `key`.
    #[must_use]
    pub fn in_entry(self, key: &str) -> Self {
        // A key can be a whole document; the path only has to tell which one it was.
        let shown: String = key.chars().take(PATH_KEY_CHARS_MAX).collect();
        self.in_brackets(&format!("{shown:?}"))
    }

    fn in_brackets(mut self, inner: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("[{inner}]{dot}{}", self.path);
        self
    }
}

/// How many characters of a map key are shown in a path.
const PATH_KEY_CHARS_MAX: usize = 64;

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "`{}`: {}", self.path, self.message) }
    }
}

impl std::error::Error for DataError {}

/// The name among `known` that `wanted` was most likely meant to be, for messages.
pub(crate) fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = wanted.chars().count().div_ceil(3).max(1);
    known
        .into_iter()
        .map(|name| (edit_distance(&wanted.to_lowercase(), &name.to_lowercase()), name))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_reads_from_the_outside_in() {
        let error = DataError::new("not a number").in_field("price").in_element(2).in_field("lines").in_field("order");
        assert_eq!(error.to_string(), "`order.lines[2].price`: not a number");
        assert_eq!(DataError::new("bad").in_entry("k").in_field("m").path(), "m[\"k\"]");
        assert_eq!(DataError::new("bad").to_string(), "bad");
    }

    #[test]
    fn the_nearest_name_is_found_only_when_it_is_near() {
        assert_eq!(nearest("prise", ["name", "price"]), Some("price"));
        assert_eq!(nearest("zip", ["name", "price"]), None);
    }
}
