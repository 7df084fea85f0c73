//! The keys `transforms`, `predicates` and what stands under them: from text to a chain.

use super::chain::Chain;
use super::stage::{Condition, Stage};
use connect_sdk::config::{ConfigDef, ConfigError, ConfigErrors, ConfigKey, ConfigType, ParsedValue};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::nearest::{nearest, unknown_class};
use connect_sdk::plugin::{Plugins, require_version};
use connect_sdk::transform::{PredicateClass, TransformationClass};

const TRANSFORMS: &str = "transforms";
const PREDICATES: &str = "predicates";
const TYPE: &str = "type";
const PREDICATE: &str = "predicate";
const NEGATE: &str = "negate";
const VERSION: &str = "plugin.version";
/// Keys of the framework; a key of the same name that a transformation defines is not reached, as in Kafka.
const IMPLICIT: [&str; 4] = [TYPE, PREDICATE, NEGATE, VERSION];

/// The transformations of a connector, checked; makes a chain for each of its tasks.
#[derive(Debug, Clone, Default)]
pub struct ChainConfig {
    stages: Vec<StageConfig>,
}

#[derive(Debug, Clone)]
struct StageConfig {
    alias: String,
    class: TransformationClass,
    settings: Properties,
    condition: Option<ConditionConfig>,
}

#[derive(Debug, Clone)]
struct ConditionConfig {
    predicate: PredicateConfig,
    negate: bool,
}

#[derive(Debug, Clone)]
struct PredicateConfig {
    alias: String,
    class: PredicateClass,
    settings: Properties,
}

impl ChainConfig {
    /// Reads the transformations and predicates of a connector and makes each once, to see whether that works.
    ///
    /// An alias that stands in its list twice is left to the check of the keys that all connectors have.
    ///
    /// # Errors
    /// Everything that is wrong, under the keys that the operator wrote.
    pub fn from_properties(plugins: &Plugins, properties: &Properties) -> Result<Self, ConfigErrors> {
        let mut errors = ConfigErrors::new();
        let predicate_aliases = aliases(properties, PREDICATES);
        let mut predicates = Vec::new();
        for alias in &predicate_aliases {
            match predicate(plugins, properties, alias) {
                Ok(predicate) => predicates.push(predicate),
                Err(wrong) => errors.extend(wrong),
            }
        }
        let mut stages = Vec::new();
        for alias in aliases(properties, TRANSFORMS) {
            let stage = transformation(plugins, properties, &alias);
            let condition = condition(properties, &alias, &predicate_aliases, &predicates);
            let condition = condition.map_err(|wrong| errors.extend(wrong));
            match (stage, condition) {
                (Ok((class, settings)), Ok(condition)) => {
                    stages.push(StageConfig { alias, class, settings, condition })
                }
                (Ok(_), Err(())) => {}
                (Err(wrong), _) => errors.extend(wrong),
            }
        }
        errors.into_result(Self { stages })
    }

    /// A chain for one task; none if there are no transformations.
    ///
    /// # Errors
    /// A transformation or predicate that could be made when the configuration was checked cannot be made now.
    pub fn make(&self) -> Result<Option<Box<dyn DynTransformation>>, ConfigErrors> {
        if self.stages.is_empty() {
            return Ok(None);
        }
        let stages = self.stages.iter().map(StageConfig::make).collect::<Result<_, _>>()?;
        Ok(Some(Box::new(Chain::new(stages))))
    }

    /// Keys under `transforms.` and `predicates.` that nobody reads, each with what may have been meant.
    #[must_use]
    pub fn unknown_keys(&self, properties: &Properties) -> Vec<String> {
        let mut unknown = Vec::new();
        for list in [TRANSFORMS, PREDICATES] {
            let aliases = aliases(properties, list);
            for (key, rest) in properties.keys().filter_map(|k| Some((k, k.strip_prefix(list)?.strip_prefix('.')?))) {
                let of = aliases
                    .iter()
                    .filter_map(|alias| Some((alias, rest.strip_prefix(alias.as_str())?.strip_prefix('.')?)));
                // Of an alias that is the beginning of another one.
                let Some((alias, setting)) = of.max_by_key(|(alias, _)| alias.len()) else {
                    unknown.push(format!("`{key}` has no effect: `{list}` does not name such an alias"));
                    continue;
                };
                let Some(def) = self.definition(list, alias) else { continue };
                let known = || def.keys().iter().map(ConfigKey::name).chain(IMPLICIT);
                if !known().any(|known| known == setting) {
                    let near = nearest(setting, known());
                    let meant = near.map(|near| format!("; did you mean `{list}.{alias}.{near}`?")).unwrap_or_default();
                    unknown.push(format!("unknown key `{key}`{meant}"));
                }
            }
        }
        unknown
    }

    fn definition(&self, list: &str, alias: &str) -> Option<ConfigDef> {
        if list == TRANSFORMS {
            return self.stages.iter().find(|stage| stage.alias == alias).map(|stage| (stage.class.config_def)());
        }
        let conditions = self.stages.iter().filter_map(|stage| stage.condition.as_ref());
        let mut predicates = conditions.map(|condition| &condition.predicate);
        predicates.find(|predicate| predicate.alias == alias).map(|predicate| (predicate.class.config_def)())
    }
}

impl StageConfig {
    fn make(&self) -> Result<Stage, ConfigErrors> {
        let condition = self.condition.as_ref().map(ConditionConfig::make).transpose()?;
        let transformation = (self.class.make)(&self.settings)
            .map_err(|errors| under_prefix(&errors, &format!("{TRANSFORMS}.{}", self.alias)))?;
        Ok(Stage { alias: self.alias.clone(), class: self.class.class, transformation, condition })
    }
}

impl ConditionConfig {
    fn make(&self) -> Result<Condition, ConfigErrors> {
        let PredicateConfig { alias, class, settings } = &self.predicate;
        let predicate =
            (class.make)(settings).map_err(|errors| under_prefix(&errors, &format!("{PREDICATES}.{alias}")))?;
        Ok(Condition { alias: alias.clone(), class: class.class, predicate, negate: self.negate })
    }
}

/// The aliases of a list, each once.
fn aliases(properties: &Properties, list: &str) -> Vec<String> {
    let text = properties.get(list).map(String::as_str);
    let Ok(ParsedValue::List(items)) = ParsedValue::parse(list, text, ConfigType::List) else { return Vec::new() };
    let mut aliases: Vec<String> = Vec::with_capacity(items.len());
    for item in items {
        if !aliases.contains(&item) {
            aliases.push(item);
        }
    }
    aliases
}

/// The class of an alias and its settings.
fn transformation(
    plugins: &Plugins,
    properties: &Properties,
    alias: &str,
) -> Result<(TransformationClass, Properties), ConfigErrors> {
    let prefix = format!("{TRANSFORMS}.{alias}");
    let text = class_text(properties, &prefix, "Transformation")?;
    let class = plugins.transformation_class(text).copied().ok_or_else(|| {
        let all = || plugins.transformations().iter();
        let why =
            unknown_class("transformation", text, all().map(|c| c.class), all().flat_map(TransformationClass::aliases));
        no_class(&prefix, text, &why)
    })?;
    require_version(properties, &format!("{prefix}.{VERSION}"), (class.class, class.version))?;
    let settings = settings(properties, &prefix);
    (class.make)(&settings).map_err(|errors| under_prefix(&errors, &prefix))?;
    Ok((class, settings))
}

fn predicate(plugins: &Plugins, properties: &Properties, alias: &str) -> Result<PredicateConfig, ConfigErrors> {
    let prefix = format!("{PREDICATES}.{alias}");
    let text = class_text(properties, &prefix, "Predicate")?;
    let class = plugins.predicate_class(text).copied().ok_or_else(|| {
        let all = || plugins.predicates().iter();
        let why = unknown_class("predicate", text, all().map(|c| c.class), all().flat_map(PredicateClass::aliases));
        no_class(&prefix, text, &why)
    })?;
    require_version(properties, &format!("{prefix}.{VERSION}"), (class.class, class.version))?;
    let settings = settings(properties, &prefix);
    (class.make)(&settings).map_err(|errors| under_prefix(&errors, &prefix))?;
    Ok(PredicateConfig { alias: alias.to_owned(), class, settings })
}

fn class_text<'a>(properties: &'a Properties, prefix: &str, kind: &str) -> Result<&'a str, ConfigErrors> {
    let key = format!("{prefix}.{TYPE}");
    let text = properties.get(&key).map(|text| text.trim()).filter(|text| !text.is_empty());
    text.ok_or_else(|| {
        let text = format!("Invalid value null for configuration {key}: Not a {kind}");
        ConfigErrors::from(ConfigError::on(key, text))
    })
}

fn no_class(prefix: &str, class: &str, why: &str) -> ConfigErrors {
    let key = format!("{prefix}.{TYPE}");
    let text = format!("Invalid value {class} for configuration {key}: Class {class} could not be found: {why}");
    ConfigErrors::from(ConfigError::on(key, text))
}

/// To which records the transformation of an alias is applied.
///
/// A predicate that is named but wrong was reported already: it is then as if there was none.
fn condition(
    properties: &Properties,
    alias: &str,
    known: &[String],
    predicates: &[PredicateConfig],
) -> Result<Option<ConditionConfig>, ConfigErrors> {
    let (predicate_key, negate_key) =
        (format!("{TRANSFORMS}.{alias}.{PREDICATE}"), format!("{TRANSFORMS}.{alias}.{NEGATE}"));
    let mut errors = ConfigErrors::new();
    let negate = properties.get(&negate_key).map(|text| {
        ParsedValue::parse(&negate_key, Some(text), ConfigType::Boolean)
            .map(|value| value == ParsedValue::Boolean(true))
    });
    let negate = negate.transpose().unwrap_or_else(|error| {
        errors.push(error);
        None
    });
    let Some(name) = properties.get(&predicate_key).map(|name| name.trim()) else {
        if negate.is_some() {
            let text = format!(
                "Config '{negate_key}' was provided but there is no config '{predicate_key}' defining a predicate to be \
                 negated."
            );
            errors.push(ConfigError::on(negate_key, text));
        }
        return errors.into_result(None);
    };
    if !known.iter().any(|known| known == name) {
        let near = nearest(name, known.iter().map(String::as_str));
        let meant = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let text = format!(
            "Invalid value {name} for configuration {predicate_key}: `{PREDICATES}` does not name such a predicate{meant}"
        );
        errors.push(ConfigError::on(predicate_key, text));
    }
    let negate = negate.unwrap_or(false);
    let predicate = predicates.iter().find(|predicate| predicate.alias == name);
    errors.into_result(predicate.map(|predicate| ConditionConfig { predicate: predicate.clone(), negate }))
}

/// The settings of an alias without its prefix.
fn settings(properties: &Properties, prefix: &str) -> Properties {
    let own = |(key, value): (&String, &String)| {
        let key = key.strip_prefix(prefix)?.strip_prefix('.')?;
        (!IMPLICIT.contains(&key)).then(|| (key.to_owned(), value.clone()))
    };
    properties.iter().filter_map(own).collect()
}

/// Errors of a transformation's own keys, under the names that the operator wrote.
fn under_prefix(errors: &ConfigErrors, prefix: &str) -> ConfigErrors {
    errors
        .iter()
        .map(|error| match error.key() {
            Some(key) => {
                let full = format!("{prefix}.{key}");
                ConfigError::on(&full, with_full_name(error.message(), key, &full))
            }
            None => ConfigError::on(format!("{prefix}.{TYPE}"), format!("{prefix}: {}", error.message())),
        })
        .collect()
}

/// A message in which a key is named as the operator wrote it.
fn with_full_name(message: &str, key: &str, full: &str) -> String {
    for (around, close) in [("for configuration ", ":"), ("configuration \"", "\""), ("Configuration '", "'")] {
        let short = format!("{around}{key}{close}");
        if message.contains(&short) {
            return message.replacen(&short, &format!("{around}{full}{close}"), 1);
        }
    }
    format!("{full}: {message}")
}

#[cfg(test)]
mod tests;
