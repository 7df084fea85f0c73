//! The definition of a configuration: its keys, and how a whole configuration is read and judged by them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use super::{
    Config, ConfigError, ConfigErrors, ConfigType, ConfigValueReport, Importance, ParsedValue, Recommender, Validator,
    Width,
};

/// What a key has when the operator does not set it.
#[derive(Clone, Debug)]
enum Default {
    /// Nothing: the key must be set.
    Required,
    /// Null, or a text that is read by the key's type when the key is defined.
    Text(Option<String>),
    Parsed(ParsedValue),
}

/// Says whether a plugin class of this name is linked.
#[derive(Clone)]
struct KnownClasses(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl fmt::Debug for KnownClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownClasses")
    }
}

/// One key of a [`ConfigDef`].
///
/// A key starts as required, of medium importance and without a group; the methods change that one by one.
///
/// ```
/// use connect_sdk::config::{ConfigDef, ConfigKey, ConfigType, Validator};
/// let def = ConfigDef::new()
///     .define(ConfigKey::new("topic", ConfigType::String).doc("The topic to write to."))
///     .define(ConfigKey::new("port", ConfigType::Int).default("8080").validator(Validator::between(1, 65535)));
/// let config = def.parse(&[("topic".to_owned(), "orders".to_owned())].into()).expect("a valid configuration");
/// assert_eq!(config.integer("port"), Some(8080));
/// ```
#[derive(Clone, Debug)]
pub struct ConfigKey {
    name: String,
    config_type: ConfigType,
    default: Default,
    validator: Option<Validator>,
    importance: Importance,
    documentation: Cow<'static, str>,
    group: Option<String>,
    order_in_group: i32,
    width: Width,
    display_name: Option<String>,
    dependents: Vec<String>,
    recommender: Option<Arc<dyn Recommender>>,
    internal: bool,
    alternative: Option<Cow<'static, str>>,
    known_classes: Option<KnownClasses>,
}

impl ConfigKey {
    /// A required key.
    pub fn new(name: impl Into<String>, config_type: ConfigType) -> Self {
        Self {
            name: name.into(),
            config_type,
            default: Default::Required,
            validator: None,
            importance: Importance::Medium,
            documentation: Cow::Borrowed(""),
            group: None,
            order_in_group: -1,
            width: Width::None,
            display_name: None,
            dependents: Vec::new(),
            recommender: None,
            internal: false,
            alternative: None,
            known_classes: None,
        }
    }

    /// Makes the key optional; the text is read by its type when the key is defined.
    #[must_use]
    pub fn default(mut self, text: impl Into<String>) -> Self {
        self.default = Default::Text(Some(text.into()));
        self
    }

    /// Makes the key optional with no value of its own.
    #[must_use]
    pub fn null_default(mut self) -> Self {
        self.default = Default::Text(None);
        self
    }

    /// Sets the check on its values.
    #[must_use]
    pub fn validator(mut self, validator: Validator) -> Self {
        self.validator = Some(validator);
        self
    }

    /// Sets how much operators should care.
    #[must_use]
    pub fn importance(mut self, importance: Importance) -> Self {
        self.importance = importance;
        self
    }

    /// Sets what the key means, for people.
    #[must_use]
    pub fn doc(mut self, documentation: impl Into<Cow<'static, str>>) -> Self {
        self.documentation = documentation.into();
        self
    }

    /// Puts the key into a group of a form, at a place in it.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>, order_in_group: i32) -> Self {
        self.group = Some(group.into());
        self.order_in_group = order_in_group;
        self
    }

    /// Sets the width of its field in a form.
    #[must_use]
    pub fn width(mut self, width: Width) -> Self {
        self.width = width;
        self
    }

    /// Sets the title of its field in a form; the name, if not set.
    #[must_use]
    pub fn display_name(mut self, name: impl Into<String>) -> Self {
        self.display_name = Some(name.into());
        self
    }

    /// Names the keys whose meaning depends on this one.
    #[must_use]
    pub fn dependents<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.dependents = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets who proposes values.
    #[must_use]
    pub fn recommender(mut self, recommender: impl Recommender) -> Self {
        self.recommender = Some(Arc::new(recommender));
        self
    }

    /// Keeps the key out of generated documentation.
    #[must_use]
    pub fn internal(mut self) -> Self {
        self.internal = true;
        self
    }

    /// Sets what documentation says in place of the default, for defaults that depend on the machine.
    #[must_use]
    pub fn alternative(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.alternative = Some(text.into());
        self
    }

    /// Sets which names of classes a CLASS key may have; without it, every name is read.
    #[must_use]
    pub fn known_classes(mut self, known: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.known_classes = Some(KnownClasses(Arc::new(known)));
        self
    }

    /// The same key with something before its name; its title stays, and so does what its check sees.
    #[must_use]
    pub fn prefixed(mut self, prefix: &str) -> Self {
        self.display_name = Some(self.title().to_owned());
        self.name = format!("{prefix}{}", self.name);
        self.validator = self.validator.map(|validator| validator.prefixed(prefix));
        self.dependents = self.dependents.iter().map(|name| format!("{prefix}{name}")).collect();
        self.recommender = self.recommender.map(|inner| -> Arc<dyn Recommender> {
            Arc::new(PrefixedRecommender { prefix: prefix.to_owned(), inner })
        });
        self
    }

    /// The key's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its text is read.
    #[must_use]
    pub fn config_type(&self) -> ConfigType {
        self.config_type
    }

    /// Whether it must be set.
    #[must_use]
    pub fn is_required(&self) -> bool {
        matches!(self.default, Default::Required)
    }

    /// Its default; `None` if it is required, or not yet part of a definition.
    #[must_use]
    pub fn default_value(&self) -> Option<&ParsedValue> {
        if let Default::Parsed(value) = &self.default { Some(value) } else { None }
    }

    /// The check on its values.
    #[must_use]
    pub fn validator_ref(&self) -> Option<&Validator> {
        self.validator.as_ref()
    }

    /// How much operators should care.
    #[must_use]
    pub fn importance_level(&self) -> Importance {
        self.importance
    }

    /// What it means, for people.
    #[must_use]
    pub fn documentation(&self) -> &str {
        &self.documentation
    }

    /// Its group in a form.
    #[must_use]
    pub fn group_name(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Its place in the group, -1 if it has none.
    #[must_use]
    pub fn order_in_group(&self) -> i32 {
        self.order_in_group
    }

    /// The width of its field in a form.
    #[must_use]
    pub fn field_width(&self) -> Width {
        self.width
    }

    /// The title of its field in a form.
    #[must_use]
    pub fn title(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.name)
    }

    /// The keys whose meaning depends on this one.
    #[must_use]
    pub fn dependent_keys(&self) -> &[String] {
        &self.dependents
    }

    /// Whether it is kept out of generated documentation.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.internal
    }

    /// What documentation says in place of the default.
    #[must_use]
    pub fn alternative_text(&self) -> Option<&str> {
        self.alternative.as_deref()
    }

    /// Reads the default and checks it.
    fn settle(&mut self) -> Result<(), ConfigError> {
        if let Default::Text(text) = &self.default {
            let value = ParsedValue::parse(&self.name, text.as_deref(), self.config_type)?;
            self.default = Default::Parsed(value);
        }
        match (&self.default, &self.validator) {
            (Default::Parsed(value), Some(validator)) => validator.check(&self.name, value),
            _ => Ok(()),
        }
    }

    /// The key's value: read from text, or the default, and checked.
    pub(super) fn parse(&self, set: Option<Option<&str>>) -> Result<ParsedValue, ConfigError> {
        let mut value = self.read(set)?;
        let Some(validator) = &self.validator else { return Ok(value) };
        if let ParsedValue::List(items) = &mut value
            && validator.removes_duplicates()
        {
            let mut seen = BTreeSet::new();
            items.retain(|item| seen.insert(item.clone()));
        }
        validator.check(&self.name, &value)?;
        Ok(value)
    }

    /// The key's value before its check: read from text, or the default.
    fn read(&self, set: Option<Option<&str>>) -> Result<ParsedValue, ConfigError> {
        match set {
            Some(text) => {
                let value = ParsedValue::parse(&self.name, text, self.config_type)?;
                if let (ParsedValue::Class(class), Some(known)) = (&value, &self.known_classes)
                    && !known.0(class)
                {
                    let text = text.unwrap_or_default();
                    return Err(ConfigError::invalid_text(
                        &self.name,
                        text,
                        &format!("Class {text} could not be found."),
                    ));
                }
                Ok(value)
            }
            None => self.default_value().cloned().ok_or_else(|| {
                let text = format!("Missing required configuration \"{}\" which has no default value.", self.name);
                ConfigError::on(&self.name, text)
            }),
        }
    }
}

/// What keys a configuration has, in the order in which they are defined.
///
/// A mistake in the definition itself (a key that is defined twice, a default that its own check refuses) is kept and
/// reported by [`ConfigDef::check`] and by every [`ConfigDef::parse`].
#[derive(Clone, Debug, std::default::Default)]
pub struct ConfigDef {
    keys: Vec<ConfigKey>,
    index: HashMap<String, usize>,
    groups: Vec<String>,
    mistakes: ConfigErrors,
}

/// Looks up the text of a key: not set, set to null, or set.
type Lookup<'a> = dyn Fn(&str) -> Option<Option<&'a str>> + 'a;

impl ConfigDef {
    /// A definition without keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key.
    #[must_use]
    pub fn define(mut self, mut key: ConfigKey) -> Self {
        if self.index.contains_key(&key.name) {
            let text = format!("Configuration {} is defined twice.", key.name);
            self.mistakes.push(ConfigError::on(&key.name, text));
            return self;
        }
        if let Err(mistake) = key.settle() {
            self.mistakes.push(mistake);
        }
        if let Some(group) = key.group.as_ref().filter(|group| !self.groups.contains(group)) {
            self.groups.push(group.clone());
        }
        self.index.insert(key.name.clone(), self.keys.len());
        self.keys.push(key);
        self
    }

    /// Adds the keys of another definition that are not here yet.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        let mut joined = other
            .keys
            .iter()
            .fold(self, |def, key| if def.key(&key.name).is_some() { def } else { def.define(key.clone()) });
        joined.mistakes.extend(other.mistakes.clone());
        joined
    }

    /// Adds the keys of another definition under a prefix and in a group of their own, from a place in it on.
    ///
    /// Validators and recommenders of the embedded keys see them without the prefix.
    #[must_use]
    pub fn embed(self, prefix: &str, group_prefix: &str, starting_order: i32, child: &Self) -> Self {
        let mut def = self;
        for (order, key) in (starting_order..).zip(child.sorted()) {
            let group =
                key.group.as_ref().map_or_else(|| group_prefix.to_owned(), |group| format!("{group_prefix}: {group}"));
            let embedded = ConfigKey { group: Some(group), order_in_group: order, ..key.clone().prefixed(prefix) };
            def = def.define(embedded);
        }
        def
    }

    /// The keys, in the order of their definition.
    #[must_use]
    pub fn keys(&self) -> &[ConfigKey] {
        &self.keys
    }

    /// The key of this name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&ConfigKey> {
        self.index.get(name).map(|i| &self.keys[*i])
    }

    /// The groups, in the order in which keys first named them.
    #[must_use]
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// The keys as documentation lists them: ungrouped ones first, then by group, place, need, importance and name.
    #[must_use]
    pub fn sorted(&self) -> Vec<&ConfigKey> {
        let place = |key: &ConfigKey| key.group.as_ref().and_then(|group| self.groups.iter().position(|g| g == group));
        let mut keys: Vec<&ConfigKey> = self.keys.iter().collect();
        keys.sort_by(|a, b| -> Ordering {
            place(a)
                .cmp(&place(b))
                .then(a.order_in_group.cmp(&b.order_in_group))
                .then(b.is_required().cmp(&a.is_required()))
                .then(a.importance.cmp(&b.importance))
                .then_with(|| a.name.cmp(&b.name))
        });
        keys
    }

    /// Whether the definition itself is sound.
    ///
    /// # Errors
    /// Keys that are defined twice, and defaults that cannot be read or that their own check refuses.
    pub fn check(&self) -> Result<(), ConfigErrors> {
        self.mistakes.clone().into_result(())
    }

    /// Reads a configuration. Keys that the definition does not know are left alone.
    ///
    /// # Errors
    /// Everything that is wrong: missing keys, texts that cannot be read, values that are not allowed.
    pub fn parse(&self, properties: &BTreeMap<String, String>) -> Result<Config, ConfigErrors> {
        self.parse_with(&|name| properties.get(name).map(|text| Some(text.as_str())))
    }

    /// As [`ConfigDef::parse`], for configurations with nulls, such as a JSON request can hold.
    ///
    /// # Errors
    /// As [`ConfigDef::parse`].
    pub fn parse_nullable(&self, properties: &BTreeMap<String, Option<String>>) -> Result<Config, ConfigErrors> {
        self.parse_with(&|name| properties.get(name).map(Option::as_deref))
    }

    fn parse_with(&self, lookup: &Lookup<'_>) -> Result<Config, ConfigErrors> {
        self.check()?;
        let undefined: Vec<&str> = self.undefined_dependents().into_iter().collect();
        if !undefined.is_empty() {
            let names = undefined.join(",");
            let text = format!("Some configurations in are referred in the dependents, but not defined: {names}");
            return Err(ConfigError::new(text).into());
        }
        let mut errors = ConfigErrors::new();
        let mut config = Config::default();
        for key in &self.keys {
            match key.parse(lookup(&key.name)) {
                Ok(value) => config.insert(&key.name, value),
                Err(error) => errors.push(error),
            }
        }
        errors.into_result(config)
    }

    /// Judges a configuration: one report for each key, in the order of the definition, then one for each name that
    /// is a dependent of a key and not defined.
    ///
    /// As Kafka does, the check of a key also runs on the null of a value that could not be read, and may add a
    /// message of its own.
    #[must_use]
    pub fn validate(&self, properties: &BTreeMap<String, String>) -> Vec<ConfigValueReport> {
        self.validate_with(&|name| properties.get(name).map(|text| Some(text.as_str())))
    }

    /// As [`ConfigDef::validate`], for configurations with nulls.
    #[must_use]
    pub fn validate_nullable(&self, properties: &BTreeMap<String, Option<String>>) -> Vec<ConfigValueReport> {
        self.validate_with(&|name| properties.get(name).map(Option::as_deref))
    }

    fn validate_with(&self, lookup: &Lookup<'_>) -> Vec<ConfigValueReport> {
        let mut reports: Vec<ConfigValueReport> = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            let mut report = ConfigValueReport::new(&key.name);
            match key.read(lookup(&key.name)) {
                Ok(value) => report.value = value,
                Err(error) => report.errors.push(error.message().to_owned()),
            }
            if let Some(Err(error)) = key.validator.as_ref().map(|validator| validator.check(&key.name, &report.value))
            {
                report.errors.push(error.message().to_owned());
            }
            reports.push(report);
        }
        if self.keys.iter().any(|key| key.recommender.is_some()) {
            let config: Config = reports.iter().map(|report| (report.name.clone(), report.value.clone())).collect();
            for (key, report) in self.keys.iter().zip(&mut reports) {
                let Some(recommender) = &key.recommender else { continue };
                let advice = recommender
                    .valid_values(&key.name, &config)
                    .and_then(|values| Ok((values, recommender.visible(&key.name, &config)?)));
                match advice {
                    Ok((values, visible)) => (report.recommended, report.visible) = (values, visible),
                    Err(error) => report.errors.push(error.message().to_owned()),
                }
            }
        }
        reports.extend(self.undefined_dependents().into_iter().map(|name| {
            let mut report = ConfigValueReport::new(name);
            report.errors.push(format!("{name} is referred in the dependents, but not defined."));
            report.visible = false;
            report
        }));
        reports
    }

    /// Names that are dependents of a key and not keys themselves.
    fn undefined_dependents(&self) -> BTreeSet<&str> {
        let names = self.keys.iter().flat_map(|key| &key.dependents);
        names.map(String::as_str).filter(|name| self.key(name).is_none()).collect()
    }
}

/// The recommender of an embedded key: it sees the keys of its own definition only, under their own names.
struct PrefixedRecommender {
    prefix: String,
    inner: Arc<dyn Recommender>,
}

impl Recommender for PrefixedRecommender {
    fn valid_values(&self, key: &str, config: &Config) -> Result<Vec<ParsedValue>, ConfigError> {
        let bare = key.strip_prefix(&self.prefix).unwrap_or(key);
        self.inner.valid_values(bare, &config.unprefixed(&self.prefix)).map_err(|error| error.under(key))
    }

    fn visible(&self, key: &str, config: &Config) -> Result<bool, ConfigError> {
        let bare = key.strip_prefix(&self.prefix).unwrap_or(key);
        self.inner.visible(bare, &config.unprefixed(&self.prefix)).map_err(|error| error.under(key))
    }
}

impl fmt::Debug for PrefixedRecommender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.prefix, self.inner)
    }
}

#[cfg(test)]
mod tests;
