//! Partition and offset maps as the framework sees them: an ordered list of named plain values, equal by meaning.

use std::{borrow::Cow, fmt, hash::Hash};

/// A value that survives storage: what Kafka Connect's schemaless JSON gives back.
///
/// All integers are 64-bit and all fractions are doubles once they were stored.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A fraction; never NaN or infinite.
    Float(f64),
    /// Text.
    Text(String),
}

impl FieldValue {
    /// The word for this kind in messages and lock files: `null`, `bool`, `int`, `float`, `text`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "text",
        }
    }
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => b.fmt(f),
            Self::Int(i) => i.fmt(f),
            Self::Float(x) => x.fmt(f),
            Self::Text(t) => write!(f, "{t:?}"),
        }
    }
}

/// The fields of a source partition or a source offset, in their order of definition.
///
/// Two maps are equal if they have the same fields with the same values, in any order: Java writes its maps in hash
/// order, so the order means nothing.
#[derive(Debug, Clone, Default)]
pub struct FieldMap {
    fields: Vec<(Cow<'static, str>, FieldValue)>,
}

/// Identifies a source partition, such as `{"filename":"a.txt"}`.
pub type PartitionMap = FieldMap;
/// A position in a source partition, such as `{"position":42}`.
pub type OffsetMap = FieldMap;

impl FieldMap {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self { fields: Vec::new() }
    }

    /// Room for `n` fields.
    #[must_use]
    pub fn with_capacity(n: usize) -> Self {
        Self { fields: Vec::with_capacity(n) }
    }

    /// Sets a field; a second value for a name replaces the first.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: FieldValue) {
        let name = name.into();
        match self.fields.iter_mut().find(|(n, _)| *n == name) {
            Some((_, v)) => *v = value,
            None => self.fields.push((name, value)),
        }
    }

    /// As [`Self::set`], for building a map in one expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: FieldValue) -> Self {
        self.set(name, value);
        self
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&FieldValue> {
        self.fields.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// All fields in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &FieldValue)> {
        self.fields.iter().map(|(n, v)| (n.as_ref(), v))
    }

    /// How many fields there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn sorted(&self) -> Vec<(&str, &FieldValue)> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_unstable_by(|a, b| a.0.cmp(b.0));
        all
    }
}

impl PartialEq for FieldMap {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(n, v)| other.get(n) == Some(v))
    }
}

// Floats are never NaN here: `SourceOffset` refuses them, and JSON cannot carry them.
impl Eq for FieldMap {}

impl Hash for FieldMap {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for (name, value) in self.sorted() {
            name.hash(state);
            match value {
                FieldValue::Null => 0u8.hash(state),
                FieldValue::Bool(b) => b.hash(state),
                FieldValue::Int(i) => i.hash(state),
                // 0.0 and -0.0 are equal, so they must hash alike.
                FieldValue::Float(x) => (if *x == 0.0 { 0 } else { x.to_bits() }).hash(state),
                FieldValue::Text(t) => t.hash(state),
            }
        }
    }
}

impl fmt::Display for FieldMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name:?}:{value}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn maps_are_equal_and_hash_alike_in_any_order() {
        let a = FieldMap::new().with("x", FieldValue::Int(1)).with("y", FieldValue::Text("t".into()));
        let b = FieldMap::new().with("y", FieldValue::Text("t".into())).with("x", FieldValue::Int(1));
        assert_eq!(a, b);
        let index = HashMap::from([(a.clone(), 1)]);
        assert_eq!(index.get(&b), Some(&1));
        assert_ne!(a, b.with("z", FieldValue::Null));
        assert_eq!(a.to_string(), r#"{"x":1,"y":"t"}"#);
    }

    #[test]
    fn negative_zero_is_zero() {
        let a = FieldMap::new().with("x", FieldValue::Float(0.0));
        let index = HashMap::from([(a, 1)]);
        assert_eq!(index.get(&FieldMap::new().with("x", FieldValue::Float(-0.0))), Some(&1));
    }
}
