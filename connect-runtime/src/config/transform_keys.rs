//! The keys that `transforms` and `predicates` bring with them: those of the classes that their aliases name.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::OfferClasses;
use super::version_range::version_requirement;
use connect_sdk::config::ConfigType::{Boolean, Class, List, String as Text};
use connect_sdk::config::Importance::{High, Medium};
use connect_sdk::config::Width::Long as Wide;
use connect_sdk::config::{ConfigDef, ConfigError, ConfigKey, ParsedValue, Validator};
use connect_sdk::plugin::Plugins;

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
    /// The keys and the version of a class.
    find: &'a dyn Fn(&str) -> Option<(ConfigDef, &'static str)>,
    /// Keys that each of them has.
    implicit: Vec<ConfigKey>,
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
        find: &|class| plugins.transformation_class(class).map(|class| ((class.config_def)(), class.version)),
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
        find: &|class| plugins.predicate_class(class).map(|class| ((class.config_def)(), class.version)),
        implicit: Vec::new(),
    }
    .add_to(def, properties)
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

    fn add_alias(&self, def: ConfigDef, alias: &str, properties: &BTreeMap<String, String>) -> ConfigDef {
        let prefix = format!("{}.{alias}.", self.list);
        let group = format!("{}: {alias}", self.group);
        let kind = self.name.to_lowercase();
        let names = self.names.clone();
        let class_key = format!("{prefix}type");
        let class = properties.get(&class_key).and_then(|class| (self.find)(class.trim()));
        let version = ConfigKey::new(format!("{prefix}plugin.version"), Text);
        let version = match &class {
            Some((_, version_of)) => version.default(*version_of),
            None => version.null_default(),
        };
        let def = def
            .define(
                ConfigKey::new(class_key, Class)
                    .importance(High)
                    .doc(format!("The class of the {kind} `{alias}`."))
                    .known_classes(move |name| names.contains(name))
                    .validator(negated_nothing(&prefix, properties))
                    .recommender(OfferClasses::new(self.classes.clone()))
                    .group(&group, 0)
                    .width(Wide)
                    .display_name(format!("{} type for {alias}", self.name)),
            )
            .define(
                version
                    .importance(High)
                    .doc(format!("The version of the {kind} `{alias}`, or a range of versions."))
                    .validator(version_requirement())
                    .group(&group, 1)
                    .width(Wide)
                    .display_name(format!("{} version for {alias}", self.name)),
            );
        let Some((own, _)) = class else { return def };
        // A key of the framework hides one of the same name that the class has.
        let implicit = self.implicit.iter().cloned().fold(ConfigDef::new(), ConfigDef::define);
        def.embed(&prefix, &group, 2, &implicit.and(&own))
    }
}

/// Refuses `negate` where there is no predicate; said with the class, as Kafka does.
fn negated_nothing(prefix: &str, properties: &BTreeMap<String, String>) -> Validator {
    let (negate, predicate) = (format!("{prefix}{NEGATE}"), format!("{prefix}{PREDICATE}"));
    let wrong =
        prefix.starts_with("transforms.") && properties.contains_key(&negate) && !properties.contains_key(&predicate);
    Validator::lambda("a class that is linked", move |key, _| {
        if !wrong {
            return Ok(());
        }
        let text = format!(
            "Config '{negate}' was provided but there is no config '{predicate}' defining a predicate to be negated."
        );
        Err(ConfigError::on(key, text))
    })
}
