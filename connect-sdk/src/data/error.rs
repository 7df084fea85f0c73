//! `DataError`: a value, a schema and what was asked of them do not fit; it says where in the value.

use std::borrow::Cow;
use std::fmt;

/// Data that does not fit its schema, its type, or the operation.
///
/// The path leads to the offending part of the value, for example `order.lines[2].price`; it is empty when the whole
/// value is meant. The same record fails again, unless the error says otherwise: see [`Self::retriable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    /// Boxed: writers and readers of deep values hold results of this type at each level.
    inner: Box<Inner>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    message: Cow<'static, str>,
    path: String,
    retriable: bool,
    plugin: Option<&'static str>,
}

impl DataError {
    /// An error about the whole value.
    #[must_use]
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        let (message, path) = (message.into(), String::new());
        Self { inner: Box::new(Inner { message, path, retriable: false, plugin: None }) }
    }

    /// The step may well work if it is tried again: a schema registry or a lookup that a converter or a transformation
    /// needs cannot be reached.
    ///
    /// The task begins with the record again after a delay, for at most `errors.retry.timeout` (which is 0, so not at
    /// all, unless it is set); then `errors.tolerance` decides, as for any other error. The converters and
    /// transformations of the record that worked before run again. Java's `RetriableException`.
    #[must_use]
    pub fn retriable(message: impl Into<Cow<'static, str>>) -> Self {
        let mut error = Self::new(message);
        error.inner.retriable = true;
        error
    }

    /// True if it may help to try again.
    #[must_use]
    pub fn is_retriable(&self) -> bool {
        self.inner.retriable
    }

    /// The same error, found by this transformation or predicate: its Java class where it has one. The innermost name
    /// stays.
    #[must_use]
    pub fn in_plugin(mut self, class: &'static str) -> Self {
        self.inner.plugin.get_or_insert(class);
        self
    }

    /// The transformation or predicate that found it, if it was told.
    #[must_use]
    pub fn plugin(&self) -> Option<&'static str> {
        self.inner.plugin
    }

    /// What is wrong, without the path.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// Where in the value: field names joined by dots, list positions and map keys in brackets; may be empty.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// The same error seen from the struct whose field `name` holds the offending value.
    #[must_use]
    pub fn in_field(mut self, name: &str) -> Self {
        let path = self.inner.continued();
        self.inner.path = format!("{name}{path}");
        self
    }

    /// The same error seen from something that has no place in the value: `what: ` stands before all that it says.
    #[must_use]
    pub fn seen_from(mut self, what: &str) -> Self {
        self.inner.message = format!("{what}: {self}").into();
        self.inner.path.clear();
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
        let path = self.inner.continued();
        self.inner.path = format!("[{inner}]{path}");
        self
    }
}

impl Inner {
    /// The path as it goes on behind something.
    fn continued(&self) -> String {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        format!("{dot}{}", self.path)
    }
}

/// How many characters of a map key are shown in a path.
const PATH_KEY_CHARS_MAX: usize = 64;

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, path, .. } = &*self.inner;
        if path.is_empty() { f.write_str(message) } else { write!(f, "`{path}`: {message}") }
    }
}

impl std::error::Error for DataError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_reads_from_the_outside_in() {
        let error = DataError::new("not a number").in_field("price").in_element(2).in_field("lines").in_field("order");
        assert_eq!(error.to_string(), "`order.lines[2].price`: not a number");
        assert_eq!(DataError::new("bad").in_entry("k").in_field("m").path(), "m[\"k\"]");
        assert_eq!(DataError::new("bad").to_string(), "bad");
        assert_eq!(
            DataError::new("bad").in_field("f").seen_from("here").in_field("g").to_string(),
            "`g`: here: `f`: bad"
        );
    }

    #[test]
    fn an_error_keeps_what_it_says_on_its_way_out() {
        let error = DataError::retriable("away").in_plugin("A").in_field("f").in_plugin("B");
        assert!(error.is_retriable() && !DataError::new("bad").is_retriable());
        assert_eq!(error.plugin(), Some("A"));
    }
}
