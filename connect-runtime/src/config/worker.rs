//! What workers of every kind are told to do, and how a file of properties is read and judged.

use std::collections::BTreeMap;
use std::time::Duration;

use super::classes::KnownClasses;
use super::distributed::distributed_config_def;
use super::key::key;
use super::no_effect::why_no_effect;
use super::override_policy::OverridePolicy;
use super::providers::{ConfigProviders, Resolved};
use connect_sdk::config::ConfigType::{List, String as Text};
use connect_sdk::config::Importance::{Low, Medium};
use connect_sdk::config::own_keys::EXACTLY_ONCE_SOURCE_SUPPORT;
use connect_sdk::config::{Config, ConfigDef, ConfigError, ConfigErrors, ConfigKey, ParsedValue, Validator};
use connect_sdk::nearest::nearest;
use connect_sdk::plugin::{Plugins, require_version};

/// How often offsets are committed where the operator does not say it: often, so that a killed worker repeats little.
const OFFSET_FLUSH_INTERVAL_MS: i64 = 1_000;

/// Beginnings of keys that are passed on: to clients, converters, providers, and to new internal topics.
const PASSED_ON: [&str; 10] = [
    "producer.",
    "consumer.",
    "admin.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "config.providers.",
    "offset.storage.",
    "config.storage.",
    "status.storage.",
];

/// Which settings Kafka clients get where the operator has set none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientDefaults {
    /// Those that serve this worker best.
    #[default]
    Tuned,
    /// Those of Kafka Connect in Java.
    Java,
}

/// How much a notice matters.
#[allow(clippy::exhaustive_enums, reason = "an error is an error, not a notice; less than this is not said")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Most likely not what was meant.
    Warn,
    /// Worth knowing.
    Info,
}

/// What an operator should be told about a configuration that is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// What it says.
    pub message: String,
}

/// What workers of every kind are told to do.
#[derive(Clone)]
#[non_exhaustive]
pub struct WorkerConfig {
    /// Where the Kafka cluster is first reached.
    pub bootstrap_servers: Vec<String>,
    /// The class of the default key converter.
    pub key_converter: String,
    /// The class of the default value converter.
    pub value_converter: String,
    /// The class of the default header converter.
    pub header_converter: String,
    /// How often offsets are committed.
    pub offset_flush_interval: Duration,
    /// How long one commit may take.
    pub offset_flush_timeout: Duration,
    /// How long tasks that are stopped together may take.
    pub task_shutdown_graceful_timeout: Duration,
    /// Whether source connectors may create topics by `topic.creation.*`.
    pub topic_creation_enable: bool,
    /// What connectors may override in their clients.
    pub override_policy: OverridePolicy,
    /// Which settings clients get where none are set.
    pub client_defaults: ClientDefaults,
    /// All properties, with the values of configuration providers in place.
    pub properties: BTreeMap<String, String>,
    /// The configuration providers, for connectors.
    pub providers: ConfigProviders,
}

impl std::fmt::Debug for WorkerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Properties hold secrets.
        f.debug_struct("WorkerConfig").field("keys", &self.properties.keys()).finish_non_exhaustive()
    }
}

/// A worker's properties on their way to a configuration.
pub(super) struct Loading<'a> {
    raw: &'a BTreeMap<String, String>,
    plugins: &'a Plugins,
    environment: &'a BTreeMap<String, String>,
    pub(super) classes: KnownClasses,
    pub(super) notices: Vec<Notice>,
}

impl<'a> Loading<'a> {
    pub(super) fn new(
        raw: &'a BTreeMap<String, String>,
        plugins: &'a Plugins,
        environment: &'a BTreeMap<String, String>,
    ) -> Self {
        Self { raw, plugins, environment, classes: KnownClasses::of(plugins), notices: Vec::new() }
    }

    pub(super) fn is_set(&self, key: &str) -> bool {
        self.raw.get(key).is_some_and(|text| !text.trim().is_empty())
    }

    /// Reads the properties by the keys of this kind of worker, and by those of others, which are known here too.
    pub(super) fn read(&mut self, required: &ConfigDef) -> Result<(WorkerConfig, Config), ConfigErrors> {
        let def = required.clone().and(&own_worker_keys());
        let def = def.clone().and(&optional(&distributed_config_def(&self.classes), &def));
        self.tell_about_keys(&def);
        let mut errors = ConfigErrors::new();
        let providers = ConfigProviders::from_properties(self.raw, self.environment).unwrap_or_else(|wrong| {
            errors.extend(wrong);
            ConfigProviders::default()
        });
        let (properties, hidden) = match self.resolve(&providers) {
            Ok(resolved) => (resolved.properties.clone(), Some(resolved)),
            Err(wrong) => {
                errors.extend(wrong);
                (self.raw.clone(), None)
            }
        };
        let config = def.parse(&properties).unwrap_or_else(|wrong| {
            errors.extend(wrong.into_iter().map(|error| self.with_linked_classes(error, &properties)));
            Config::default()
        });
        for key in ["key.converter", "value.converter", "header.converter"] {
            if let Some(class) = properties.get(key).and_then(|class| self.plugins.converter_class(class.trim())) {
                let version = (class.class, class.version);
                errors.extend(
                    require_version(&properties, &format!("{key}.plugin.version"), version).err().unwrap_or_default(),
                );
            }
        }
        let override_policy = OverridePolicy::from_properties(&properties).unwrap_or_else(|wrong| {
            errors.push(wrong);
            OverridePolicy::default()
        });
        let mut millis = |key: &str| {
            let value = config.integer(key).unwrap_or(0);
            let value = if key == "offset.flush.interval.ms" && !properties.contains_key(key) {
                OFFSET_FLUSH_INTERVAL_MS
            } else {
                value
            };
            Duration::from_millis(u64::try_from(value).unwrap_or_else(|_| {
                errors.push(ConfigError::invalid(key, &ParsedValue::Long(value), "Value must be at least 0"));
                0
            }))
        };
        let text = |key: &str| config.string(key).unwrap_or_default().to_owned();
        let worker = WorkerConfig {
            bootstrap_servers: config.list("bootstrap.servers").unwrap_or_default().to_vec(),
            key_converter: text("key.converter"),
            value_converter: text("value.converter"),
            header_converter: text("header.converter"),
            offset_flush_interval: millis("offset.flush.interval.ms"),
            offset_flush_timeout: millis("offset.flush.timeout.ms"),
            task_shutdown_graceful_timeout: millis("task.shutdown.graceful.timeout.ms"),
            topic_creation_enable: config.boolean("topic.creation.enable").unwrap_or(true),
            override_policy,
            client_defaults: match config.string("client.defaults") {
                Some(java) if java.eq_ignore_ascii_case("java") => ClientDefaults::Java,
                _ => ClientDefaults::Tuned,
            },
            properties,
            providers,
        };
        // A value of a provider may be a secret: messages show its reference.
        let errors = match hidden {
            Some(resolved) => resolved.hide_in(errors),
            None => errors,
        };
        errors.into_result((worker, config))
    }

    /// Puts in what providers know; `plugin.path` stays as it is, as in Java.
    fn resolve(&mut self, providers: &ConfigProviders) -> Result<Resolved, ConfigErrors> {
        let mut raw = self.raw.clone();
        let plugin_path = raw.remove_entry("plugin.path");
        let mut resolved = providers.resolve(&raw)?;
        let warnings = std::mem::take(&mut resolved.warnings);
        self.notices.extend(warnings.into_iter().map(|message| Notice { level: Level::Warn, message }));
        resolved.properties.extend(plugin_path);
        Ok(resolved)
    }

    /// Notices about keys that do nothing here, and about keys that nobody knows.
    fn tell_about_keys(&mut self, def: &ConfigDef) {
        for key in self.raw.keys() {
            if let Some(why) = why_no_effect(key) {
                let message = format!("worker key `{key}` has no effect: {why}");
                // Who switches exactly-once on and does not get it must not overlook that.
                let asks = key == EXACTLY_ONCE_SOURCE_SUPPORT && !self.raw[key].trim().eq_ignore_ascii_case("disabled");
                self.notices.push(Notice { level: if asks { Level::Warn } else { Level::Info }, message });
                continue;
            }
            if def.key(key).is_some() {
                continue;
            }
            let names = def.keys().iter().map(ConfigKey::name);
            let storage =
                ["offset.storage.", "config.storage.", "status.storage."].iter().find(|p| key.starts_with(**p));
            let near = match storage {
                // What stands behind these is a setting of an internal topic, unless it looks like a slip.
                Some(prefix) => {
                    let bare = key.strip_prefix(prefix).unwrap_or(key);
                    nearest(bare, names.filter_map(|name| name.strip_prefix(prefix)))
                        .map(|near| format!("{prefix}{near}"))
                }
                None => nearest(key, names).map(str::to_owned),
            };
            if PASSED_ON.iter().any(|prefix| key.starts_with(prefix)) && (storage.is_none() || near.is_none()) {
                continue;
            }
            let meant = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            self.notices.push(Notice { level: Level::Warn, message: format!("unknown worker key `{key}`{meant}") });
        }
    }

    /// A class that is not linked: says which ones are.
    fn with_linked_classes(&self, error: ConfigError, properties: &BTreeMap<String, String>) -> ConfigError {
        let Some(key) =
            error.key().filter(|key| ["key.converter", "value.converter", "header.converter"].contains(key))
        else {
            return error;
        };
        let Some(class) = properties.get(key) else { return error };
        let of_kind = |java: &&str| match key {
            "header.converter" => self.classes.header_converter_names().iter().any(|name| name == java),
            _ => self.classes.converter_names().iter().any(|name| name == java),
        };
        let linked: Vec<&str> = self.plugins.converters().iter().map(|class| class.class).filter(of_kind).collect();
        let simple = |java: &'static str| java.rsplit(['.', '$']).next().unwrap_or(java);
        let linked_all = self.plugins.converters().iter().map(|class| class.class).filter(of_kind);
        let near = nearest(class.trim(), linked_all.flat_map(|java| [java, simple(java)]));
        let meant = near.map(|near| format!(" did you mean `{near}`?")).unwrap_or_default();
        let list = if linked.is_empty() { "none".to_owned() } else { format!("`{}`", linked.join("`, `")) };
        ConfigError::on(key, format!("{}{meant} (linked converter classes: {list})", error.message()))
    }
}

/// The keys of our own that workers have beside Kafka Connect's.
fn own_worker_keys() -> ConfigDef {
    ConfigDef::new()
        .define(
            key(
                "client.defaults",
                Text,
                Medium,
                "Which settings Kafka clients get where none are set: `tuned` or `java`.",
            )
            .default("tuned")
            .validator(Validator::case_insensitive_valid_string(["tuned", "java"])),
        )
        .define(
            key(
                "connector.client.config.override.allowlist",
                List,
                Low,
                "What connectors may override in their Kafka clients under the policy `Allowlist`.",
            )
            .default(""),
        )
}

/// The keys that `known` lacks, none of them required.
fn optional(def: &ConfigDef, known: &ConfigDef) -> ConfigDef {
    def.keys().iter().filter(|key| known.key(key.name()).is_none()).fold(ConfigDef::new(), |out, key| {
        let key = key.clone();
        out.define(if key.is_required() { key.null_default() } else { key })
    })
}

#[cfg(test)]
mod tests;
