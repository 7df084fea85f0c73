//! `Plugins`: the explicit registry of connectors, converters, transformations and predicates that a worker is built with.

use crate::{
    converter::ConverterClass,
    erased::{DynSinkConnector, DynSourceConnector, SinkDescriptor, SourceDescriptor},
    sink::SinkConnector,
    source::SourceConnector,
    transform::{PredicateClass, TransformationClass},
};
use std::{fmt, sync::Arc};

/// The connectors, converters, transformations and predicates of a worker.
///
/// Registration is explicit, so that a connector that is not linked is a compile error and not an empty list:
///
/// ```
/// # use connect_sdk::plugin::Plugins;
/// let plugins = Plugins::new(); // .source::<FileLines>().sink::<Lines>()
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

    /// Registers a converter class.
    #[must_use]
    pub fn converter(mut self, class: ConverterClass) -> Self {
        self.converters.push(class);
        self
    }

    /// Registers a class of transformations.
    #[must_use]
    pub fn transformation(mut self, new: TransformationClass) -> Self {
        for old in &self.transformations {
            if let Some(alias) = new.aliases().find(|a| old.aliases().any(|b| a == &b)) {
                self.clashes.push(clash("transformation", old.class, new.class, alias));
            }
        }
        self.transformations.push(new);
        self
    }

    /// Registers a class of predicates.
    #[must_use]
    pub fn predicate(mut self, new: PredicateClass) -> Self {
        for old in &self.predicates {
            if let Some(alias) = new.aliases().find(|a| old.aliases().any(|b| a == &b)) {
                self.clashes.push(clash("predicate", old.class, new.class, alias));
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

    /// Finds a converter class by its Java class, its simple name, or that without `Converter` or `HeaderConverter`.
    #[must_use]
    pub fn converter_class(&self, class: &str) -> Option<&ConverterClass> {
        self.converters.iter().find(|c| {
            let simple = simple_name(c.java);
            let short = simple.strip_suffix("HeaderConverter").or_else(|| simple.strip_suffix("Converter"));
            class == c.java || class == simple || Some(class) == short
        })
    }
}
