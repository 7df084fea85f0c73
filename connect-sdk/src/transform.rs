//! Transformations and predicates: between a connector and its converters.

use crate::{
    config::{ConfigDef, ConfigErrors},
    data::{DataError, SchemaAndValue, Text},
    erased::Properties,
    header::Headers,
};
use std::fmt;

/// A record as transformations see it, of a source or of a sink.
#[allow(clippy::exhaustive_structs, reason = "transformations take records apart and put them together")]
#[derive(Debug, Clone, Default)]
pub struct ConnectRecord {
    /// Where it goes (source), or where it came from (sink).
    pub topic: Text,
    /// The Kafka partition, if it is known.
    pub partition: Option<i32>,
    /// Milliseconds since 1970, if it has a timestamp.
    pub timestamp: Option<i64>,
    /// The key.
    pub key: SchemaAndValue,
    /// The value.
    pub value: SchemaAndValue,
    /// The headers.
    pub headers: Headers,
    /// The offset in Kafka: only records of sinks have one.
    pub offset: Option<i64>,
}

/// Changes, or drops, one record at a time. Keeps the behaviour of `org.apache.kafka.connect.transforms.Transformation`.
pub trait Transformation: Send {
    /// The changed record; `None` drops it. Called once for each record that reaches it, by its task.
    ///
    /// # Errors
    /// The record does not fit; `errors.tolerance` decides what becomes of it. [`DataError::retriable`] has the record
    /// tried again, from its beginning.
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError>;
}

/// Decides whether a transformation is applied. Keeps the behaviour of Kafka's `Predicate`.
pub trait Predicate: Send {
    /// True if the record is meant. Called before the transformation that names it.
    ///
    /// # Errors
    /// The record does not fit; `errors.tolerance` decides what becomes of it.
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError>;
}

impl fmt::Debug for dyn Transformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transformation")
    }
}

impl fmt::Debug for dyn Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Predicate")
    }
}

/// Makes a transformation from its settings, which have no prefix.
pub type MakeTransformation = fn(&Properties) -> Result<Box<dyn Transformation>, ConfigErrors>;
/// Makes a predicate from its settings, which have no prefix.
pub type MakePredicate = fn(&Properties) -> Result<Box<dyn Predicate>, ConfigErrors>;

/// A class of transformations: what can be asked before one is made. `Plugins::transformation` registers it.
#[allow(clippy::exhaustive_structs, reason = "whoever adds a transformation writes it out whole")]
#[derive(Clone, Copy)]
pub struct TransformationClass {
    /// What users write as `transforms.<alias>.type`: a Java class, or a name of its own. Of a Java class the simple name
    /// will do, with or without `Transformation` at its end, but not of `$Key` and `$Value`.
    pub class: &'static str,
    /// The version of the crate that defines it.
    pub version: &'static str,
    /// Its configuration keys, without the prefix `transforms.<alias>.`.
    pub config_def: fn() -> ConfigDef,
    /// Makes one; called once for each task, and once when the configuration is checked. All errors at once.
    pub make: MakeTransformation,
}

/// A class of predicates: what can be asked before one is made. `Plugins::predicate` registers it.
#[allow(clippy::exhaustive_structs, reason = "whoever adds a predicate writes it out whole")]
#[derive(Clone, Copy)]
pub struct PredicateClass {
    /// What users write as `predicates.<alias>.type`: a Java class, or a name of its own. Of a Java class the simple name
    /// will do, with or without `Predicate` at its end.
    pub class: &'static str,
    /// The version of the crate that defines it.
    pub version: &'static str,
    /// Its configuration keys, without the prefix `predicates.<alias>.`.
    pub config_def: fn() -> ConfigDef,
    /// Makes one; called once for each transformation of each task that names it, and once when the configuration is
    /// checked. All errors at once.
    pub make: MakePredicate,
}

impl TransformationClass {
    /// Every text under which users may name it.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> + use<> {
        aliases(self.class, "Transformation")
    }
}

impl PredicateClass {
    /// Every text under which users may name it.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> + use<> {
        aliases(self.class, "Predicate")
    }
}

/// Kafka's rule for aliases: the simple class name, with and without its kind. That of a class within another would be
/// `Key` or `Value`, which tells nothing.
fn aliases(class: &'static str, kind: &str) -> impl Iterator<Item = &'static str> + use<> {
    let simple = class.rsplit('.').next().filter(|simple| !simple.contains('$') && *simple != class);
    let short = simple.and_then(|simple| simple.strip_suffix(kind)).filter(|short| !short.is_empty());
    [Some(class), simple, short].into_iter().flatten()
}

impl fmt::Debug for TransformationClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TransformationClass({})", self.class)
    }
}

impl fmt::Debug for PredicateClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PredicateClass({})", self.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_aliases_of_kafka() {
        let of = |class: &'static str| aliases(class, "Transformation").collect::<Vec<_>>();
        assert_eq!(of("org.example.RegexRouter"), ["org.example.RegexRouter", "RegexRouter"]);
        assert_eq!(
            of("org.example.TrimTransformation"),
            ["org.example.TrimTransformation", "TrimTransformation", "Trim"]
        );
        assert_eq!(of("org.example.Cast$Value"), ["org.example.Cast$Value"]);
        assert_eq!(of("trim"), ["trim"]);
    }
}
