//! Which class names a configuration may have: those of the plugins that are linked.

use std::collections::BTreeSet;
use std::sync::Arc;

use connect_sdk::config::{Config, ConfigError, ParsedValue, Recommender, Validator};
use connect_sdk::plugin::{ConnectorPlugin, Plugins};
use connect_sdk::transform::{PredicateClass, TransformationClass};

/// The converter classes that are linked, by every name that configurations may have for them.
#[derive(Clone, Debug, Default)]
pub struct KnownClasses {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    names: BTreeSet<String>,
    converters: Vec<String>,
    header_converters: Vec<String>,
    /// Names of classes that convert headers only, or keys and values only.
    not_converters: BTreeSet<String>,
    not_header_converters: BTreeSet<String>,
}

impl KnownClasses {
    /// The classes of the registered plugins.
    #[must_use]
    pub fn of(plugins: &Plugins) -> Self {
        let mut inner = Inner::default();
        for class in plugins.converters() {
            let simple = class.class.rsplit(['.', '$']).next().unwrap_or(class.class);
            let short = simple.strip_suffix("HeaderConverter").or_else(|| simple.strip_suffix("Converter"));
            let names: Vec<String> =
                [Some(class.class), Some(simple), short].into_iter().flatten().map(str::to_owned).collect();
            inner.names.extend(names.iter().cloned());
            if class.converter.is_some() {
                inner.converters.push(class.class.to_owned());
            } else {
                inner.not_converters.extend(names.iter().cloned());
            }
            if class.header_converter.is_some() {
                inner.header_converters.push(class.class.to_owned());
            } else {
                inner.not_header_converters.extend(names);
            }
        }
        // Classes that are there and convert nothing.
        let connectors = plugins.connectors().iter().flat_map(ConnectorPlugin::aliases);
        let transformations = plugins.transformations().iter().flat_map(TransformationClass::aliases);
        let predicates = plugins.predicates().iter().flat_map(PredicateClass::aliases);
        for name in connectors.chain(transformations).chain(predicates) {
            if inner.names.insert(name.to_owned()) {
                inner.not_converters.insert(name.to_owned());
                inner.not_header_converters.insert(name.to_owned());
            }
        }
        Self { inner: Arc::new(inner) }
    }

    /// For a key that names a converter.
    pub(super) fn converters(&self) -> impl Fn(&str) -> bool + Send + Sync + use<> {
        let inner = Arc::clone(&self.inner);
        move |name| inner.names.contains(name)
    }

    /// For a key that names a header converter.
    pub(super) fn header_converters(&self) -> impl Fn(&str) -> bool + Send + Sync + use<> {
        self.converters()
    }

    /// The Java names of all converters of keys and values.
    #[must_use]
    pub fn converter_names(&self) -> &[String] {
        &self.inner.converters
    }

    /// The Java names of all header converters.
    #[must_use]
    pub fn header_converter_names(&self) -> &[String] {
        &self.inner.header_converters
    }

    /// Refuses a class that is of another kind; null passes.
    pub(super) fn of_kind(&self, header: bool) -> Validator {
        let inner = Arc::clone(&self.inner);
        let interface = if header { "HeaderConverter" } else { "Converter" };
        Validator::lambda(format!("a concrete {interface}"), move |key, value| {
            let others = if header { &inner.not_header_converters } else { &inner.not_converters };
            match value {
                ParsedValue::Class(name) if others.contains(name) => Err(ConfigError::on(
                    key,
                    format!("Class class {name} does not implement the {interface} interface"),
                )),
                _ => Ok(()),
            }
        })
    }

    /// Offers the classes of a kind.
    pub(super) fn recommender(&self, header: bool) -> OfferClasses {
        let names = if header { &self.inner.header_converters } else { &self.inner.converters };
        OfferClasses::new(names.clone())
    }
}

/// Offers names of classes.
#[derive(Debug)]
pub(super) struct OfferClasses(Vec<String>);

impl OfferClasses {
    /// Offers these, in the order of their names.
    pub(super) fn new(mut names: Vec<String>) -> Self {
        names.sort_unstable();
        Self(names)
    }
}

impl Recommender for OfferClasses {
    fn valid_values(&self, _: &str, _: &Config) -> Result<Vec<ParsedValue>, ConfigError> {
        Ok(self.0.iter().map(|name| ParsedValue::Class(name.clone())).collect())
    }
}
