//! Transformations and predicates: between a connector and its converters.

use crate::{
    config::{ConfigDef, ConfigErrors, ConnectorConfig},
    data::{DataError, SchemaAndValue, Text},
    erased::{DynPredicate, DynTransformation, Properties},
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

/// Changes, or drops, one record at a time; a type with fields of its own, where a function with `#[transformation]` would
/// not do. Keeps the behaviour of `org.apache.kafka.connect.transforms.Transformation`.
///
/// The worker makes one value for each task, and one when the configuration is checked. It is never shared, so that
/// [`Transformation::apply`] may change it. Java's `close` is `Drop`.
///
/// ```
/// use connect_sdk::prelude::*;
///
/// #[derive(ConnectorConfig)]
/// pub struct LimitConfig {
///     /// How many records pass; the others are dropped.
///     #[config(range = 1..)]
///     records: u64,
/// }
///
/// pub struct Limit {
///     left: u64,
/// }
///
/// /// Lets the first records of a task pass.
/// #[transformation]
/// impl Transformation for Limit {
///     type Config = LimitConfig;
///
///     fn new(config: LimitConfig) -> Result<Self, ConfigErrors> {
///         Ok(Self { left: config.records })
///     }
///
///     fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
///         let passes = self.left > 0;
///         self.left = self.left.saturating_sub(1);
///         Ok(passes.then_some(record))
///     }
/// }
///
/// let plugins = Plugins::new().transformation::<Limit>();
/// assert!(plugins.transformation_class("Limit").is_some());
/// ```
pub trait Transformation: Sized + Send + 'static {
    /// Its keys, without the prefix `transforms.<alias>.`; `()` if it has none.
    type Config: ConnectorConfig;

    /// Makes one. Called once for each task, and once when the configuration is checked.
    ///
    /// # Errors
    /// What is wrong with the settings and their definition could not tell; the connector does not start. Name the key,
    /// without the prefix, with [`ConfigError::on`](crate::config::ConfigError::on).
    fn new(config: Self::Config) -> Result<Self, ConfigErrors>;

    /// The changed record; `None` drops it. Called once for each record that reaches it, by its task.
    ///
    /// # Errors
    /// The record does not fit; `errors.tolerance` decides what becomes of it. [`DataError::retriable`] has the record
    /// tried again, from its beginning.
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError>;
}

/// Which part of a record a [`PartTransformation`] works on: the class that users write ends with `$Key` or `$Value`.
#[allow(clippy::exhaustive_enums, reason = "a record has no other parts with a schema and a value")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The key.
    Key,
    /// The value.
    Value,
}

impl Part {
    /// This part of a record.
    pub fn of(self, record: &mut ConnectRecord) -> &mut SchemaAndValue {
        self.pick(&mut record.key, &mut record.value)
    }

    /// This part of a record that was taken apart, to look at its other fields meanwhile.
    pub fn pick<'r>(self, key: &'r mut SchemaAndValue, value: &'r mut SchemaAndValue) -> &'r mut SchemaAndValue {
        match self {
            Self::Key => key,
            Self::Value => value,
        }
    }
}

/// A transformation that works on keys or on values, as its class says: one impl with `#[transformation]` gives both
/// classes, `Upper$Key` and `Upper$Value`.
///
/// ```
/// use connect_sdk::prelude::*;
///
/// pub struct Upper {
///     part: Part,
/// }
///
/// /// Makes text upper case.
/// #[transformation(java = "org.example.Upper")]
/// impl PartTransformation for Upper {
///     type Config = ();
///
///     fn new(_: (), part: Part) -> Result<Self, ConfigErrors> {
///         Ok(Self { part })
///     }
///
///     fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
///         let value = &mut self.part.of(&mut record).value;
///         if let Some(Value::String(text)) = value {
///             *text = text.to_uppercase().into();
///         }
///         Ok(Some(record))
///     }
/// }
///
/// let plugins = Plugins::new().transformation::<Upper>();
/// assert!(plugins.transformation_class("org.example.Upper$Key").is_some());
/// ```
pub trait PartTransformation: Sized + Send + 'static {
    /// As [`Transformation::Config`].
    type Config: ConnectorConfig;

    /// As [`Transformation::new`], for this part of records.
    ///
    /// # Errors
    /// As there.
    fn new(config: Self::Config, part: Part) -> Result<Self, ConfigErrors>;

    /// As [`Transformation::apply`].
    ///
    /// # Errors
    /// As there.
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError>;
}

/// Decides whether a transformation is applied. Keeps the behaviour of Kafka's `Predicate`.
///
/// Most predicates are functions with `#[predicate]`; this is for those with fields of their own.
///
/// ```
/// use connect_sdk::prelude::*;
///
/// #[derive(ConnectorConfig)]
/// pub struct SampleConfig {
///     /// Every record whose number is a multiple of this is meant.
///     #[config(default = 100, range = 1..)]
///     every: u64,
/// }
///
/// pub struct Sample {
///     every: u64,
///     seen: u64,
/// }
///
/// /// Means a sample of the records.
/// #[predicate]
/// impl Predicate for Sample {
///     type Config = SampleConfig;
///
///     fn new(config: SampleConfig) -> Result<Self, ConfigErrors> {
///         Ok(Self { every: config.every, seen: 0 })
///     }
///
///     fn test(&mut self, _: &ConnectRecord) -> Result<bool, DataError> {
///         self.seen += 1;
///         Ok(self.seen.is_multiple_of(self.every))
///     }
/// }
///
/// let plugins = Plugins::new().predicate::<Sample>();
/// assert!(plugins.predicate_class("Sample").is_some());
/// ```
pub trait Predicate: Sized + Send + 'static {
    /// Its keys, without the prefix `predicates.<alias>.`; `()` if it has none.
    type Config: ConnectorConfig;

    /// Makes one. Called once for each transformation of each task that names it, and once when the configuration is
    /// checked.
    ///
    /// # Errors
    /// As [`Transformation::new`].
    fn new(config: Self::Config) -> Result<Self, ConfigErrors>;

    /// True if the record is meant. Called before the transformation that names it.
    ///
    /// # Errors
    /// The record does not fit; `errors.tolerance` decides what becomes of it.
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError>;
}

/// A transformation with its description; implemented by `#[transformation]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a `#[transformation]`",
    label = "this type has no `#[transformation]` on its `impl Transformation`, `impl PartTransformation` or function"
)]
pub trait TransformationPlugin: 'static {
    /// The class, or the two for keys and values.
    const CLASSES: &'static [TransformationClass];
}

/// A predicate with its description; implemented by `#[predicate]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a `#[predicate]`",
    label = "this type has no `#[predicate]` on its `impl Predicate` or function"
)]
pub trait PredicatePlugin: 'static {
    /// The class.
    const CLASS: PredicateClass;
}

/// Makes a transformation from its settings, which have no prefix.
pub type MakeTransformation = fn(&Properties) -> Result<Box<dyn DynTransformation>, ConfigErrors>;
/// Makes a predicate from its settings, which have no prefix.
pub type MakePredicate = fn(&Properties) -> Result<Box<dyn DynPredicate>, ConfigErrors>;

/// A class of transformations: what can be asked before one is made. `Plugins::transformation` registers it.
#[allow(clippy::exhaustive_structs, reason = "the worker's tests write classes out whole")]
#[derive(Clone, Copy)]
pub struct TransformationClass {
    /// What users write as `transforms.<alias>.type`, and what logs and REST show: a Java class, or a name of its own. Of a
    /// Java class the simple name will do, with or without `Transformation` at its end, but not of `$Key` and `$Value`.
    pub class: &'static str,
    /// Another name that users may write.
    pub name: Option<&'static str>,
    /// The version of the crate that defines it.
    pub version: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// The Rust type, for messages.
    pub type_name: &'static str,
    /// Its configuration keys, without the prefix `transforms.<alias>.`.
    pub config_def: fn() -> ConfigDef,
    /// Makes one; called once for each task, and once when the configuration is checked. All errors at once.
    pub make: MakeTransformation,
}

/// A class of predicates: what can be asked before one is made. `Plugins::predicate` registers it.
#[allow(clippy::exhaustive_structs, reason = "the worker's tests write classes out whole")]
#[derive(Clone, Copy)]
pub struct PredicateClass {
    /// What users write as `predicates.<alias>.type`, and what logs and REST show: a Java class, or a name of its own. Of a
    /// Java class the simple name will do, with or without `Predicate` at its end.
    pub class: &'static str,
    /// Another name that users may write.
    pub name: Option<&'static str>,
    /// The version of the crate that defines it.
    pub version: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// The Rust type, for messages.
    pub type_name: &'static str,
    /// Its configuration keys, without the prefix `predicates.<alias>.`.
    pub config_def: fn() -> ConfigDef,
    /// Makes one; called once for each transformation of each task that names it, and once when the configuration is
    /// checked. All errors at once.
    pub make: MakePredicate,
}

impl TransformationClass {
    /// Every text under which users may name it.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> + use<> {
        aliases(self.class, self.name, "Transformation")
    }
}

impl PredicateClass {
    /// Every text under which users may name it.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> + use<> {
        aliases(self.class, self.name, "Predicate")
    }
}

/// A name of its own, and Kafka's rule for aliases: the simple class name, with and without its kind. That of a class
/// within another would be `Key` or `Value`, which tells nothing.
fn aliases(class: &'static str, name: Option<&'static str>, kind: &str) -> impl Iterator<Item = &'static str> + use<> {
    let simple = class.rsplit('.').next().filter(|simple| !simple.contains('$') && *simple != class);
    let short = simple.and_then(|simple| simple.strip_suffix(kind)).filter(|short| !short.is_empty());
    let name = name.filter(|name| *name != class && Some(*name) != simple && Some(*name) != short);
    [Some(class), simple, short, name].into_iter().flatten()
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
        let of = |class: &'static str| aliases(class, None, "Transformation").collect::<Vec<_>>();
        assert_eq!(of("org.example.RegexRouter"), ["org.example.RegexRouter", "RegexRouter"]);
        assert_eq!(
            of("org.example.TrimTransformation"),
            ["org.example.TrimTransformation", "TrimTransformation", "Trim"]
        );
        assert_eq!(of("org.example.Cast$Value"), ["org.example.Cast$Value"]);
        assert_eq!(of("trim"), ["trim"]);
        let named = |class, name| aliases(class, Some(name), "Transformation").collect::<Vec<_>>();
        assert_eq!(named("org.example.Trim", "Trim"), ["org.example.Trim", "Trim"]);
        assert_eq!(named("org.example.Trim$Key", "trim$Key"), ["org.example.Trim$Key", "trim$Key"]);
    }
}
