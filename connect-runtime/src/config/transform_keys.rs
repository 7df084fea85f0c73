//! The keys that `transforms` and `predicates` bring with them: those of the classes that their aliases name.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::OfferClasses;
use super::plugin_versions::{OfferVersion, available_version, version_requirement};
use connect_sdk::config::ConfigType::{Boolean, Class, List, String as Text};
use connect_sdk::config::Importance::{High, Medium};
use connect_sdk::config::Width::Long as Wide;
use connect_sdk::config::{ConfigDef, ConfigError, ConfigKey, ParsedValue, Validator};
use connect_sdk::java::version_range::VersionRange;
use connect_sdk::plugin::{ConnectorPlugin, Plugins};

const PREDICATE: &str = "predicate";
const NEGATE: &str = "negate";

/// What can stand under an alias.
struct Kind<'a> {
    /// The key with the aliases.
    list: &'static str,
    group: &'static str,
    /// Kafka's name for it.
    name: &'static str,
    /// The classes that are offered.
    classes: Vec<String>,
    /// Every name that may be given.
    names: BTreeSet<String>,
    /// Classes that are linked, but are something else.
    others: Vec<String>,
    /// A class, with its keys.
    find: &'a dyn Fn(&str) -> Option<Found>,
    /// Keys that each of them has.
    implicit: Vec<ConfigKey>,
}

/// A class that an alias can name.
struct Found {
    class: &'static str,
    version: &'static str,
    config_def: fn() -> ConfigDef,
}

/// The definition with the keys of a connector's transformations and predicates; Kafka's `ConnectorConfig.enrich`.
///
/// A class that is not linked brings no keys: what is wrong with it is found with the key that names it.
#[must_use]
pub fn with_transform_keys(def: ConfigDef, plugins: &Plugins, properties: &BTreeMap<String, String>) -> ConfigDef {
    let transformations = plugins.transformations();
    let predicates = plugins.predicates();
    let def = Kind {
        list: "transforms",
        group: "Transforms",
        name: "Transformation",
        classes: transformations.iter().map(|class| class.class.to_owned()).collect(),
        names: transformations.iter().flat_map(|class| class.aliases()).map(str::to_owned).collect(),
        others: others(plugins, predicates.iter().map(|class| class.class)),
        find: &|class| {
            let found = plugins.transformation_class(class)?;
            Some(Found { class: found.class, version: found.version, config_def: found.config_def })
        },
        implicit: vec![
            ConfigKey::new(PREDICATE, Text)
                .null_default()
                .importance(Medium)
                .doc("The alias of the predicate that says which records it is applied to; to all without it."),
            ConfigKey::new(NEGATE, Boolean)
                .default("false")
                .importance(Medium)
                .doc("Whether it is applied to the records that the predicate does not mean."),
        ],
    }
    .add_to(def, properties);
    Kind {
        list: "predicates",
        group: "Predicates",
        name: "Predicate",
        classes: predicates.iter().map(|class| class.class.to_owned()).collect(),
        names: predicates.iter().flat_map(|class| class.aliases()).map(str::to_owned).collect(),
        others: others(plugins, transformations.iter().map(|class| class.class)),
        find: &|class| {
            let found = plugins.predicate_class(class)?;
            Some(Found { class: found.class, version: found.version, config_def: found.config_def })
        },
        implicit: Vec::new(),
    }
    .add_to(def, properties)
}

fn others(plugins: &Plugins, also: impl Iterator<Item = &'static str>) -> Vec<String> {
    let connectors = plugins.connectors().iter().map(ConnectorPlugin::class);
    let converters = plugins.converters().iter().map(|class| class.class);
    connectors.chain(converters).chain(also).map(str::to_owned).collect()
}

impl Kind<'_> {
    fn add_to(&self, mut def: ConfigDef, properties: &BTreeMap<String, String>) -> ConfigDef {
        let text = properties.get(self.list).map(String::as_str);
        let Ok(ParsedValue::List(aliases)) = ParsedValue::parse(self.list, text, List) else { return def };
        for (at, alias) in aliases.iter().enumerate() {
            if !aliases[..at].contains(alias) {
                def = self.add_alias(def, alias, properties);
            }
        }
        def
    }

    /// Why a class that is known cannot be made, in Kafka's words.
    fn why_unfit(&self, class: &str) -> Option<String> {
        if self.others.iter().any(|other| other == class) {
            return Some(format!("Class class {class} does not implement the {} interface", self.name));
        }
        let begins = format!("{class}$");
        let mut meant: Vec<&str> =
            self.classes.iter().filter(|known| known.starts_with(&begins)).map(String::as_str).collect();
        meant.sort_unstable();
        let text = || format!("This class is abstract and cannot be created. Did you mean {}?", meant.join(", "));
        (!meant.is_empty()).then(text)
    }

    fn add_alias(&self, def: ConfigDef, alias: &str, properties: &BTreeMap<String, String>) -> ConfigDef {
        let prefix = format!("{}.{alias}.", self.list);
        let group = format!("{}: {alias}", self.group);
        let kind = self.name.to_lowercase();
        let mut names = self.names.clone();
        names.extend(self.others.iter().cloned());
        // `Cast$Key` and `Cast$Value` are classes; `Cast` is what they have in common.
        names.extend(self.classes.iter().filter_map(|class| Some(class.split_once('$')?.0.to_owned())));
        let class_key = format!("{prefix}type");
        let class = properties.get(&class_key).and_then(|class| (self.find)(class.trim()));
        let version_key = format!("{prefix}plugin.version");
        // Kafka tells it with both keys, and asks no more of a class that is not there as wished.
        let asked = properties.get(&version_key).map(|text| text.trim());
        let missing = class.as_ref().zip(asked).map(|(of, asked)| VersionRange::require(asked, of.class, of.version));
        let missing = missing.and_then(Result::err).or_else(|| self.why_unfit(properties.get(&class_key)?.trim()));
        let offered = class.as_ref().map(|of| of.version);
        let version = ConfigKey::new(version_key, Text).recommender(OfferVersion(offered));
        let version = match &class {
            Some(of) => version.default(of.version).validator(available_version(of.class, of.version)),
            None => version.null_default().validator(version_requirement()),
        };
        let def = def
            .define(
                ConfigKey::new(class_key, Class)
                    .importance(High)
                    .doc(format!("The class of the {kind} `{alias}`."))
                    .known_classes(move |name| names.contains(name))
                    .validator(negated_nothing(&prefix, properties, missing.clone()))
                    .recommender(OfferClasses::new(self.classes.clone()))
                    .group(&group, 0)
                    .width(Wide)
                    .display_name(format!("{} type for {alias}", self.name)),
            )
            .define(
                version
                    .importance(High)
                    .doc(format!("The version of the {kind} `{alias}`, or a range of versions."))
                    .group(&group, 1)
                    .width(Wide)
                    .display_name(format!("{} version for {alias}", self.name)),
            );
        let Some(of) = class.filter(|_| missing.is_none()) else { return def };
        // A key of the framework hides one of the same name that the class has.
        let implicit = self.implicit.iter().cloned().fold(ConfigDef::new(), ConfigDef::define);
        def.embed(&prefix, &group, 2, &implicit.and(&(of.config_def)()))
    }
}

/// Refuses `negate` where there is no predicate, and a class that is not what it should be; said with the class, as Kafka
/// does.
fn negated_nothing(prefix: &str, properties: &BTreeMap<String, String>, missing: Option<String>) -> Validator {
    let (negate, predicate) = (format!("{prefix}{NEGATE}"), format!("{prefix}{PREDICATE}"));
    let wrong =
        prefix.starts_with("transforms.") && properties.contains_key(&negate) && !properties.contains_key(&predicate);
    Validator::lambda("a class that is linked", move |key, _| {
        if !wrong {
            return missing.clone().map_or(Ok(()), |why| Err(ConfigError::on(key, why)));
        }
        let text = format!(
            "Config '{negate}' was provided but there is no config '{predicate}' defining a predicate to be negated."
        );
        Err(ConfigError::on(key, text))
    })
}
