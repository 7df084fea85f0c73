//! Judges the whole configuration of a connector: the framework's keys, those of its transformations and predicates, its
//! own, its converters' and its clients'.

use std::collections::BTreeMap;

use super::connector::{ConnectorKind, own_keys_def};
use super::exactly_once::{ExactlyOnceWorker, check_exactly_once, exactly_once_source};
use super::infos::{ConfigInfo, ConfigInfos, ConfigKeyInfo, ConfigValueInfo};
use super::override_policy::{ClientKind, OverridePolicy};
use super::plugin_versions::PluginVersions;
use super::{
    KnownClasses, sink_connector_config_def, sink_topic_errors, source_connector_config_def, with_transform_keys,
};
use connect_sdk::config::{ConfigDef, ConfigError, ConfigErrors, ConfigKey, ConfigValueReport, ParsedValue, Password};
use connect_sdk::java::hash_order::{DEFAULT_CAPACITY, sort_as_hash_map};
use connect_sdk::plugin::{ConnectorPlugin, Plugins};

/// What is needed to judge a configuration.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "made by whoever asks, from all of its parts")]
pub struct Validation<'a> {
    /// The plugins that are linked.
    pub plugins: &'a Plugins,
    /// The connector that is meant.
    pub connector: &'a ConnectorPlugin,
    /// The configuration, with the values of configuration providers in place.
    pub properties: &'a BTreeMap<String, Option<String>>,
    /// What connectors may override in their clients.
    pub policy: &'a OverridePolicy,
    /// The group of the workers, which no sink may share.
    pub worker_group: Option<&'a str>,
    /// What the worker offers to exactly-once sources.
    pub exactly_once: &'a ExactlyOnceWorker,
    /// What whoever makes the transformations and predicates found wrong with them.
    pub chain: &'a ConfigErrors,
    /// What whoever makes the clients found wrong with the keys that the connector overrides.
    pub clients: &'a ConfigErrors,
    /// The keys that clients of a kind have, without their prefix.
    pub client_def: fn(ClientKind) -> ConfigDef,
    /// The worker's converter classes by their keys, as far as they are known.
    pub worker_converters: &'a BTreeMap<String, String>,
}

/// One part of the answer: keys with their reports.
struct Part {
    def: ConfigDef,
    reports: Vec<ConfigValueReport>,
}

/// Judges a configuration, as Kafka Connect does for `PUT /connector-plugins/{class}/config/validate`.
#[must_use]
pub fn validate_connector(request: &Validation<'_>) -> ConfigInfos {
    let text: BTreeMap<String, String> =
        request.properties.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect();
    let classes = KnownClasses::of(request.plugins);
    let mut exactly_once = ConfigErrors::new();
    let (kind, connector_def, checked) = match request.connector {
        ConnectorPlugin::Sink(sink) => (ConnectorKind::Sink, sink.config_def(), sink.check(&text)),
        ConnectorPlugin::Source(source) => {
            let viable = source.check(&text);
            // What is odd about it is not part of Kafka's answer.
            (exactly_once, _) = check_exactly_once(source.meta(), viable.as_ref().ok(), &text, request.exactly_once);
            (ConnectorKind::Source, source.config_def(), viable.map(drop))
        }
    };
    let framework = match kind {
        ConnectorKind::Source => source_connector_config_def(&classes),
        ConnectorKind::Sink => sink_connector_config_def(&classes),
    };
    // A key that the connector defines itself is the connector's.
    let framework = with_transform_keys(framework.and(&own_keys_def(kind)), request.plugins, &text);
    let of_framework = framework.keys().iter().filter(|key| connector_def.key(key.name()).is_none()).cloned();
    let of_framework = of_framework.map(|key| with_worker_default(key, request.worker_converters));
    let versions = PluginVersions::of(request.plugins, request.connector, request.worker_converters, &text);
    let of_framework = of_framework.map(|key| versions.fill_in(key));
    let def = of_framework.chain(connector_def.keys().iter().cloned()).fold(ConfigDef::new(), ConfigDef::define);

    let mut main = Part { reports: def.validate_nullable(request.properties), def };
    for report in &mut main.reports {
        if let ParsedValue::Class(name) = &mut report.value {
            whole_name(request.plugins, &report.name, name);
        }
    }
    for (key, _) in request.properties.iter().filter(|(_, value)| value.is_none()) {
        main.add(key, "Null value can not be supplied as the configuration value.");
    }
    if kind == ConnectorKind::Sink {
        main.add_all(sink_topic_errors(&text).into_iter().flatten().collect());
        if let Some(group) = request.worker_group {
            main.check_group(&text, group);
        }
    }
    let unavailable = versions.unavailable(&text);
    for (class_key, version_key, why) in &unavailable {
        // Of a class that is not what it should be no version is asked for.
        if !main.has_error(class_key) {
            main.add(class_key, why);
            main.add(version_key, why);
        }
    }
    main.add_where_none(request.chain);
    main.add_all(exactly_once);
    // The connector sees the whole: it may find what no single key shows.
    main.add_all(checked.err().unwrap_or_default());

    let mut parts = Vec::new();
    // A connector's own offsets topic has clients of every kind.
    let own_offsets = kind == ConnectorKind::Source
        && (text.contains_key("offsets.storage.topic") || exactly_once_source(&text, request.exactly_once));
    let makes_topics = has_dlq(&text) || text.keys().any(|key| key.starts_with("topic.creation."));
    for (client, used) in [
        (ClientKind::Producer, kind == ConnectorKind::Source || has_dlq(&text)),
        (ClientKind::Consumer, kind == ConnectorKind::Sink || own_offsets),
        (ClientKind::Admin, makes_topics || own_offsets),
    ] {
        if used {
            parts.push(override_part(request, client, &text));
        }
    }
    for part in ["header.converter", "key.converter", "value.converter"] {
        if unavailable.iter().all(|(class_key, ..)| *class_key != part) {
            parts.extend(converter_part(request.plugins, part, &text));
        }
    }
    answer(&text, &main, &parts)
}

/// The class of a converter that is not set is the worker's.
fn with_worker_default(key: ConfigKey, converters: &BTreeMap<String, String>) -> ConfigKey {
    match converters.get(key.name()) {
        Some(class) => key.default(class.trim()),
        None => key,
    }
}

/// Puts the whole name of a class in place of one of its short names.
fn whole_name(plugins: &Plugins, key: &str, name: &mut String) {
    let whole = match key.split('.').next() {
        Some("transforms") => plugins.transformation_class(name).map(|class| class.class),
        Some("predicates") => plugins.predicate_class(name).map(|class| class.class),
        _ if key.ends_with(".converter") => plugins.converter_class(name).map(|class| class.class),
        _ => None,
    };
    if let Some(whole) = whole {
        whole.clone_into(name);
    }
}

fn has_dlq(text: &BTreeMap<String, String>) -> bool {
    text.get("errors.deadletterqueue.topic.name").is_some_and(|topic| !topic.trim().is_empty())
}

impl Part {
    fn has_error(&self, key: &str) -> bool {
        self.reports.iter().any(|report| report.name == key && !report.errors.is_empty())
    }

    /// Adds a message to a key, which gets a report if it has none; a message is added only once.
    fn add(&mut self, key: &str, message: &str) {
        let report = match self.reports.iter().position(|report| report.name == key) {
            Some(at) => &mut self.reports[at],
            None => {
                self.reports.push(ConfigValueReport::new(key));
                let last = self.reports.len() - 1;
                &mut self.reports[last]
            }
        };
        if !report.errors.iter().any(|known| known == message) {
            report.errors.push(message.to_owned());
        }
    }

    fn add_all(&mut self, errors: ConfigErrors) {
        for error in errors {
            // What concerns no single key is told with the class of the connector.
            self.add(error.key().unwrap_or("connector.class"), error.message());
        }
    }

    /// Adds messages to keys with which nothing was found wrong; the others say it in Kafka's words already.
    fn add_where_none(&mut self, errors: &ConfigErrors) {
        for error in errors {
            let key = error.key().unwrap_or("transforms");
            let known = |report: &ConfigValueReport| {
                report.name == key && !report.errors.is_empty() || report.errors.iter().any(|e| e == error.message())
            };
            if !self.reports.iter().any(known) {
                self.add(key, error.message());
            }
        }
    }

    /// A sink whose consumer group is the group of the workers would break both.
    fn check_group(&mut self, text: &BTreeMap<String, String>, worker_group: &str) {
        const KEY: &str = "consumer.override.group.id";
        match text.get(KEY) {
            Some(group) if group == worker_group => {
                self.add(KEY, &format!("Consumer group {group} conflicts with Connect worker group {worker_group}"));
            }
            None if text.get("name").is_some_and(|name| format!("connect-{name}") == worker_group) => {
                let name = text.get("name").map_or("", String::as_str);
                let text = format!(
                    "Consumer group for sink connector named {name} conflicts with Connect worker group {worker_group}"
                );
                self.add("name", &text);
            }
            _ => {}
        }
    }
}

/// What a connector overrides in one of its clients, judged by the policy and by whoever makes the client.
fn override_part(request: &Validation<'_>, client: ClientKind, text: &BTreeMap<String, String>) -> Part {
    let prefix = client.override_prefix();
    let known = (request.client_def)(client);
    let overridden = known.keys().iter().map(|key| key.clone().prefixed(prefix));
    let def = overridden.filter(|key| text.contains_key(key.name())).fold(ConfigDef::new(), ConfigDef::define);
    let mut part = Part { def, reports: Vec::new() };
    for (key, value) in text.iter().filter(|(key, _)| key.starts_with(prefix)) {
        let mut report = ConfigValueReport::new(key);
        // A login or a password is not for showing; which keys hold one is known by their names.
        let secret = ["password", "jaas", "secret", "key"].iter().any(|word| key.contains(word));
        report.value =
            if secret { ParsedValue::Password(Password::new(value.as_str())) } else { value.as_str().into() };
        part.reports.push(report);
    }
    let violations = request.policy.violations(client, text.keys().map(String::as_str));
    let wrong = request.clients.iter().filter(|error| error.key().is_some_and(|key| text.contains_key(key)));
    for error in violations.iter().chain(wrong.filter(|error| is_of(error, client))) {
        part.add(error.key().unwrap_or_default(), error.message());
    }
    part
}

fn is_of(error: &ConfigError, client: ClientKind) -> bool {
    error.key().is_some_and(|key| key.starts_with(client.override_prefix()))
}

/// The keys of a converter that the connector names itself.
fn converter_part(plugins: &Plugins, key: &str, text: &BTreeMap<String, String>) -> Option<Part> {
    let class = plugins.converter_class(text.get(key)?.trim())?;
    let prefix = format!("{key}.");
    let def = (class.config_def)();
    let mut own: BTreeMap<String, String> =
        text.iter().filter_map(|(k, v)| Some((k.strip_prefix(&prefix)?.to_owned(), v.clone()))).collect();
    own.entry("converter.type".to_owned()).or_insert_with(|| key.split('.').next().unwrap_or_default().to_owned());
    let mut reports = def.validate(&own);
    for report in &mut reports {
        report.name = format!("{prefix}{}", report.name);
    }
    // The keys are shown as they stand in the connector's configuration, but in the converter's own groups; in Kafka's
    // order, which is that of a hash map.
    let mut keys: Vec<&ConfigKey> = def.keys().iter().collect();
    sort_as_hash_map(&mut keys, DEFAULT_CAPACITY, |key| key.name());
    let prefixed = keys.into_iter().fold(ConfigDef::new(), |out, key| out.define(key.clone().prefixed(&prefix)));
    Some(Part { def: prefixed, reports })
}

fn answer(text: &BTreeMap<String, String>, main: &Part, others: &[Part]) -> ConfigInfos {
    let mut groups: Vec<String> = Vec::new();
    let mut configs = Vec::new();
    let mut error_count = main.reports.iter().map(|report| report.errors.len()).sum();
    for (part, is_main) in std::iter::once((main, true)).chain(others.iter().map(|part| (part, false))) {
        for group in part.def.groups() {
            if !groups.contains(group) {
                groups.push(group.clone());
            }
        }
        if !is_main {
            error_count += part.reports.iter().filter(|report| !report.errors.is_empty()).count();
        }
        let undefined = part.reports.iter().filter(|report| part.def.key(&report.name).is_none());
        configs.extend(undefined.map(|report| ConfigInfo { definition: None, value: Some(report.into()) }));
        for key in part.def.keys() {
            let report = part.reports.iter().find(|report| report.name == key.name());
            let definition = Some(ConfigKeyInfo::from(key));
            configs.push(ConfigInfo { definition, value: report.map(ConfigValueInfo::from) });
        }
    }
    let name = text.get("connector.class").cloned().unwrap_or_default();
    ConfigInfos { name, error_count, groups, configs }
}

#[cfg(test)]
mod tests;
