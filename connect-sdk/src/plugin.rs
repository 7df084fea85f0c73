//! `Plugins`: the explicit registry of connectors, converters, transformations and predicates that a worker is built with.

pub mod derive_support;

use crate::{
    config::{ConfigError, ConfigErrors},
    converter::{ConverterClass, ConverterPlugin},
    erased::{DynSinkConnector, DynSourceConnector, Properties, SinkDescriptor, SourceDescriptor},
    java::version_range::VersionRange,
    sink::SinkConnector,
    source::SourceConnector,
    transform::{PredicateClass, PredicatePlugin, TransformationClass, TransformationPlugin},
};
use std::{fmt, sync::Arc};

/// The connectors, converters, transformations and predicates of a worker.
///
/// Registration is explicit, so that a plugin that is not linked is a compile error and not an empty list:
///
/// ```
/// # use connect_sdk::plugin::Plugins;
/// # use connect_sdk::prelude::*;
/// /// Drops every record.
/// #[transformation]
/// fn nothing(_: ConnectRecord) -> Option<ConnectRecord> {
///     None
/// }
///
/// let plugins = Plugins::new().transformation::<nothing>(); // .source::<FileLines>().sink::<Lines>()
/// assert!(plugins.transformation_class("nothing").is_some());
/// assert!(plugins.connector("nothing").is_none());
/// ```
#[derive(Debug, Default, Clone)]
pub struct Plugins {
    connectors: Vec<ConnectorPlugin>,
    converters: Vec<ConverterClass>,
    transformations: Vec<TransformationClass>,
    predicates: Vec<PredicateClass>,
    clashes: Vec<String>,
}

/// A registered connector of either kind.
#[allow(clippy::exhaustive_enums, reason = "Kafka Connect has no third kind")]
#[derive(Clone)]
pub enum ConnectorPlugin {
    /// A source.
    Source(Arc<dyn DynSourceConnector>),
    /// A sink.
    Sink(Arc<dyn DynSinkConnector>),
}

impl ConnectorPlugin {
    /// The class text that users write.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Source(s) => s.meta().name,
            Self::Sink(s) => s.meta().name,
        }
    }

    /// The Java class it stands for.
    #[must_use]
    pub fn java(&self) -> Option<&'static str> {
        match self {
            Self::Source(s) => s.meta().java,
            Self::Sink(s) => s.meta().java,
        }
    }

    /// The class that REST and logs show: the Java class if there is one.
    #[must_use]
    pub fn class(&self) -> &'static str {
        self.java().unwrap_or_else(|| self.name())
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> &'static str {
        match self {
            Self::Source(s) => s.meta().version,
            Self::Sink(s) => s.meta().version,
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Source(s) => s.meta().type_name,
            Self::Sink(s) => s.meta().type_name,
        }
    }

    /// Every text under which users may name it: its name, the Java class, and by Kafka's rule the simple class name
    /// with and without its suffix `Connector`.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        let simple = self.java().map(simple_name);
        let short = simple.map(|s| s.strip_suffix("Connector").unwrap_or(s));
        [Some(self.name()), self.java(), simple, short].into_iter().flatten()
    }
}

impl fmt::Debug for ConnectorPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self, Self::Source(_)) { "source" } else { "sink" };
        write!(f, "{kind} {}", self.class())
    }
}

/// Asks for the version of a plugin that a key such as `connector.plugin.version` names (KIP-891); without the key any is
/// good.
///
/// # Errors
/// That the value is no range of versions, or the plugin linked in another version; the connector does not start.
pub fn require_version(properties: &Properties, key: &str, (class, version): (&str, &str)) -> Result<(), ConfigErrors> {
    let Some(asked) = properties.get(key) else { return Ok(()) };
    VersionRange::require(asked.trim(), class, version).map_err(|why| ConfigErrors::from(ConfigError::on(key, why)))
}

fn clash(kind: &str, old: &str, new: &str, alias: &str) -> String {
    format!("`{old}` and `{new}` both answer to the {kind} class `{alias}`; give one of them another name")
}

/// A Java class without its package.
fn simple_name(class: &str) -> &str {
    class.rsplit(['.', '$']).next().unwrap_or(class)
}

impl Plugins {
    /// Nothing is registered.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a source connector.
    #[must_use]
    pub fn source<S: SourceConnector>(mut self) -> Self {
        self.add(ConnectorPlugin::Source(Arc::new(SourceDescriptor::<S>::new())));
        self
    }

    /// Registers a sink connector.
    #[must_use]
    pub fn sink<S: SinkConnector>(mut self) -> Self {
        self.add(ConnectorPlugin::Sink(Arc::new(SinkDescriptor::<S>::new())));
        self
    }

    /// Registers a converter: a type with `#[converter]`.
    #[must_use]
    pub fn converter<C: ConverterPlugin>(self) -> Self {
        self.with_converter_class(C::CLASS)
    }

    /// Registers a transformation, or both of one for keys and values: a type or a function with `#[transformation]`.
    #[must_use]
    pub fn transformation<T: TransformationPlugin>(self) -> Self {
        T::CLASSES.iter().copied().fold(self, Self::with_transformation_class)
    }

    /// Registers a predicate: a type or a function with `#[predicate]`.
    #[must_use]
    pub fn predicate<P: PredicatePlugin>(self) -> Self {
        self.with_predicate_class(P::CLASS)
    }

    /// Registers a converter class that no macro wrote.
    #[doc(hidden)]
    #[must_use]
    pub fn with_converter_class(mut self, new: ConverterClass) -> Self {
        for old in &self.converters {
            if let Some(alias) = new.aliases().find(|a| old.aliases().any(|b| a == &b)) {
                self.clashes.push(clash("converter", old.type_name, new.type_name, alias));
            }
        }
        self.converters.push(new);
        self
    }

    /// Registers a class of transformations that no macro wrote.
    #[doc(hidden)]
    #[must_use]
    pub fn with_transformation_class(mut self, new: TransformationClass) -> Self {
        for old in &self.transformations {
            if let Some(alias) = new.aliases().find(|a| old.aliases().any(|b| a == &b)) {
                self.clashes.push(clash("transformation", old.type_name, new.type_name, alias));
            }
        }
        self.transformations.push(new);
        self
    }

    /// Registers a class of predicates that no macro wrote.
    #[doc(hidden)]
    #[must_use]
    pub fn with_predicate_class(mut self, new: PredicateClass) -> Self {
        for old in &self.predicates {
            if let Some(alias) = new.aliases().find(|a| old.aliases().any(|b| a == &b)) {
                self.clashes.push(clash("predicate", old.type_name, new.type_name, alias));
            }
        }
        self.predicates.push(new);
        self
    }

    fn add(&mut self, new: ConnectorPlugin) {
        for old in &self.connectors {
            if let Some(alias) = new.aliases().find(|a| old.aliases().any(|b| a == &b)) {
                self.clashes.push(clash("connector", old.type_name(), new.type_name(), alias));
            }
        }
        self.connectors.push(new);
    }

    /// The names that more than one plugin of a kind claims, each as a message; a worker does not start with any.
    #[must_use]
    pub fn clashes(&self) -> &[String] {
        &self.clashes
    }

    /// All connectors in order of registration.
    #[must_use]
    pub fn connectors(&self) -> &[ConnectorPlugin] {
        &self.connectors
    }

    /// All converter classes in order of registration.
    #[must_use]
    pub fn converters(&self) -> &[ConverterClass] {
        &self.converters
    }

    /// All classes of transformations in order of registration.
    #[must_use]
    pub fn transformations(&self) -> &[TransformationClass] {
        &self.transformations
    }

    /// All classes of predicates in order of registration.
    #[must_use]
    pub fn predicates(&self) -> &[PredicateClass] {
        &self.predicates
    }

    /// Finds a class of transformations by any of its names.
    #[must_use]
    pub fn transformation_class(&self, class: &str) -> Option<&TransformationClass> {
        self.transformations.iter().find(|c| c.aliases().any(|a| a == class))
    }

    /// Finds a class of predicates by any of its names.
    #[must_use]
    pub fn predicate_class(&self, class: &str) -> Option<&PredicateClass> {
        self.predicates.iter().find(|c| c.aliases().any(|a| a == class))
    }

    /// Finds a connector by any of its names.
    #[must_use]
    pub fn connector(&self, class: &str) -> Option<&ConnectorPlugin> {
        self.connectors.iter().find(|c| c.aliases().any(|a| a == class))
    }

    /// Finds a converter class by any of its names.
    #[must_use]
    pub fn converter_class(&self, class: &str) -> Option<&ConverterClass> {
        self.converters.iter().find(|c| c.aliases().any(|a| a == class))
    }
}
