//! The keys that ask for versions of plugins (KIP-891). Each plugin is linked in one version, so such a key cannot choose;
//! it says what the configuration was written for, and another version is an error.

use std::collections::BTreeMap;

use connect_sdk::config::{Config, ConfigError, ConfigKey, ParsedValue, Recommender, Validator};
use connect_sdk::converter::ConverterClass;
use connect_sdk::java::version_range::VersionRange;
use connect_sdk::plugin::{ConnectorPlugin, Plugins};

const CONNECTOR_VERSION: &str = "connector.plugin.version";
const CONVERTERS: [&str; 3] = ["key.converter", "value.converter", "header.converter"];

/// A text that is a version or a range of versions; null passes.
pub(super) fn version_requirement() -> Validator {
    Validator::lambda("a version or a range of versions", |key, value| match value {
        ParsedValue::String(text) => VersionRange::parse(text).map(drop).map_err(|why| ConfigError::on(key, why)),
        _ => Ok(()),
    })
}

/// The same, and that the class is there in such a version.
pub(super) fn available_version(class: &'static str, version: &'static str) -> Validator {
    Validator::lambda("a version or a range of versions", move |key, value| match value {
        ParsedValue::String(text) => {
            VersionRange::require(text, class, version).map_err(|why| ConfigError::on(key, why))
        }
        _ => Ok(()),
    })
}

/// Offers the only version of a class.
#[derive(Debug)]
pub(super) struct OfferVersion(pub(super) Option<&'static str>);

impl Recommender for OfferVersion {
    fn valid_values(&self, _: &str, _: &Config) -> Result<Vec<ParsedValue>, ConfigError> {
        Ok(self.0.into_iter().map(ParsedValue::from).collect())
    }
}

/// Offers the only version of the class that another key names, and shows the key only if one is named.
#[derive(Debug)]
pub(super) struct OfferVersionOf {
    pub(super) class_key: &'static str,
    pub(super) version: Option<&'static str>,
}

impl Recommender for OfferVersionOf {
    fn valid_values(&self, key: &str, config: &Config) -> Result<Vec<ParsedValue>, ConfigError> {
        let offered = if self.visible(key, config)? { self.version } else { None };
        Ok(offered.into_iter().map(ParsedValue::from).collect())
    }

    fn visible(&self, _: &str, config: &Config) -> Result<bool, ConfigError> {
        Ok(config.get(self.class_key).is_some_and(|value| !value.is_null()))
    }
}

/// The classes and versions of a connector's plugins, as far as its own keys and those of its worker say.
#[derive(Debug)]
pub(super) struct PluginVersions {
    connector: &'static str,
    connector_class: &'static str,
    converters: Vec<ConverterVersion>,
}

#[derive(Debug)]
struct ConverterVersion {
    class_key: &'static str,
    version_key: String,
    /// The class and version that the connector gets, if it is linked.
    chosen: Option<(&'static str, &'static str)>,
}

impl PluginVersions {
    pub(super) fn of(
        plugins: &Plugins,
        connector: &ConnectorPlugin,
        worker_converters: &BTreeMap<String, String>,
        properties: &BTreeMap<String, String>,
    ) -> Self {
        let converters = CONVERTERS.map(|class_key| {
            let fits = |class: &&ConverterClass| match class_key {
                "header.converter" => class.header_converter.is_some(),
                _ => class.converter.is_some(),
            };
            let class = properties.get(class_key).or_else(|| worker_converters.get(class_key));
            let chosen = class.and_then(|class| plugins.converter_class(class.trim())).filter(fits);
            ConverterVersion {
                class_key,
                version_key: format!("{class_key}.plugin.version"),
                chosen: chosen.map(|class| (class.class, class.version)),
            }
        });
        Self {
            connector: connector.version(),
            connector_class: connector.class(),
            converters: converters.into_iter().collect(),
        }
    }

    /// A key with the default and the proposal that Kafka's validation shows.
    pub(super) fn fill_in(&self, key: ConfigKey) -> ConfigKey {
        if key.name() == CONNECTOR_VERSION {
            let offer = OfferVersionOf { class_key: "connector.class", version: Some(self.connector) };
            return key.default(self.connector).recommender(offer);
        }
        for ConverterVersion { class_key, version_key, chosen } in &self.converters {
            if key.name() == version_key
                && let Some((_, version)) = *chosen
            {
                return key.default(version).recommender(OfferVersionOf { class_key, version: Some(version) });
            }
        }
        key
    }

    /// What is asked for and not there: the keys that say so, and what to tell with each of them.
    pub(super) fn unavailable(&self, properties: &BTreeMap<String, String>) -> Vec<(&'static str, String, String)> {
        let connector = std::iter::once((
            "connector.class",
            CONNECTOR_VERSION.to_owned(),
            Some((self.connector_class, self.connector)),
        ));
        // Without a class of its own the connector gets the worker's converter, whatever version it asks for.
        let named = self.converters.iter().filter(|converter| properties.contains_key(converter.class_key));
        let converters = named.map(|converter| (converter.class_key, converter.version_key.clone(), converter.chosen));
        connector
            .chain(converters)
            .filter_map(|(class_key, version_key, chosen)| {
                let ((class, version), asked) = (chosen?, properties.get(&version_key)?);
                // That it is no range was found by the key's own check.
                VersionRange::parse(asked.trim()).ok()?;
                let why = VersionRange::require(asked.trim(), class, version).err()?;
                Some((class_key, version_key, why))
            })
            .collect()
    }
}
