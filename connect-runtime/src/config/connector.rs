//! The keys that every connector has, and the check of a connector before it is started.

use std::collections::BTreeMap;

use super::classes::KnownClasses;
use super::dead_letters::dead_letter_keys;
use super::key::{key, unique_aliases};
use super::plugin_versions::{OfferVersionOf, version_requirement};
use super::{Level, Notice, sink_connector_config_def, sink_topic_errors, source_connector_config_def};
use connect_sdk::config::ConfigType::{Boolean, Class, Int, List, Long, String as Text};
use connect_sdk::config::Importance::{High, Low, Medium};
use connect_sdk::config::Width::{Long as Wide, Medium as Middle, Short as Narrow};
use connect_sdk::config::own_keys;
use connect_sdk::config::{ConfigDef, ConfigError, ConfigErrors, ConfigKey, Validator};
use connect_sdk::nearest::nearest;

/// Groups of keys in forms.
const COMMON: &str = "Common";
const ERRORS: &str = "Error Handling";

/// Whether a connector reads from outside or writes to outside.
#[allow(clippy::exhaustive_enums, reason = "Kafka Connect has these two kinds")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectorKind {
    /// From outside into Kafka.
    Source,
    /// From Kafka to outside.
    Sink,
}

/// The keys that source and sink connectors have in common.
#[must_use]
pub fn connector_config_def(classes: &KnownClasses) -> ConfigDef {
    let def = ConfigDef::new()
        .define(
            key("name", Text, High, "The name of the connector, unique among the connectors of the workers.")
                .validator(Validator::non_empty_string_without_control_chars())
                .group(COMMON, 1)
                .width(Middle)
                .display_name("Connector name"),
        )
        .define(
            key("connector.class", Text, High, "The class of the connector: a name, an alias or a Java class name.")
                .group(COMMON, 2)
                .width(Wide)
                .display_name("Connector class"),
        )
        .define(
            key("connector.plugin.version", Text, Medium, "The version of the connector, or a range of versions.")
                .null_default()
                .validator(version_requirement())
                .recommender(OfferVersionOf { class_key: "connector.class", version: None })
                .group(COMMON, 3)
                .width(Middle)
                .display_name("Connector version"),
        )
        .define(
            key("tasks.max", Int, High, "How many tasks the connector may have at most.")
                .default("1")
                .validator(Validator::at_least(1))
                .group(COMMON, 4)
                .width(Narrow)
                .display_name("Tasks max"),
        )
        .define(
            key("tasks.max.enforce", Boolean, Low, "Whether a connector with more tasks than it may have fails.")
                .default("true")
                .group(COMMON, 5)
                .width(Narrow)
                .display_name("Enforce tasks max"),
        );
    let def = converter_keys(def, classes);
    let def = def
        .define(
            key("transforms", List, Low, "Aliases of the transformations of records, in their order.")
                .default("")
                .validator(unique_aliases("unique transformation aliases"))
                .group("Transforms", 12)
                .width(Wide)
                .display_name("Transforms"),
        )
        .define(
            key("predicates", List, Low, "Aliases of the predicates that transformations refer to.")
                .default("")
                .validator(unique_aliases("unique predicate aliases"))
                .group("Predicates", 13)
                .width(Wide)
                .display_name("Predicates"),
        )
        .define(
            key("config.action.reload", Text, Low, "What happens when a value from a provider changes.")
                .default("restart")
                .validator(Validator::valid_string(["none", "restart"]))
                .group(COMMON, 14)
                .width(Middle)
                .display_name("Reload Action"),
        );
    error_keys(def)
}

fn converter_keys(def: ConfigDef, classes: &KnownClasses) -> ConfigDef {
    let parts = [
        ("key.converter", "key.converter.plugin.version", "Key converter", 6, false),
        ("value.converter", "value.converter.plugin.version", "Value converter", 8, false),
        ("header.converter", "header.converter.plugin.version", "Header converter", 10, true),
    ];
    parts.into_iter().fold(def, |def, (class, version, title, order, header)| {
        def.define(
            key(class, Class, Low, "The converter of this connector; the worker's, if not set.")
                .null_default()
                .known_classes(classes.converters())
                .validator(classes.of_kind(header))
                .recommender(classes.recommender(header))
                .group(COMMON, order)
                .width(Narrow)
                .display_name(format!("{title} class")),
        )
        .define(
            key(version, Text, Low, "The version of the converter, or a range of versions.")
                .null_default()
                .validator(version_requirement())
                .recommender(OfferVersionOf { class_key: class, version: None })
                .group(COMMON, order + 1)
                .width(Narrow)
                .display_name(format!("{title} version")),
        )
    })
}

fn error_keys(def: ConfigDef) -> ConfigDef {
    def.define(
        key(
            "errors.retry.timeout",
            Long,
            Medium,
            "How long a failed step is tried again, in milliseconds; -1 is for ever.",
        )
        .default("0")
        .group(ERRORS, 1)
        .width(Middle)
        .display_name("Retry Timeout for Errors"),
    )
    .define(
        key("errors.retry.delay.max.ms", Long, Medium, "The longest wait between two attempts, in milliseconds.")
            .default("60000")
            .group(ERRORS, 2)
            .width(Middle)
            .display_name("Maximum Delay Between Retries for Errors"),
    )
    .define(
        key("errors.tolerance", Text, Medium, "Whether records that cannot be processed fail the task or are skipped.")
            .default("none")
            .validator(Validator::valid_string(["none", "all"]))
            .group(ERRORS, 3)
            .width(Narrow)
            .display_name("Error Tolerance"),
    )
    .define(
        key("errors.log.enable", Boolean, Medium, "Whether skipped records are logged.")
            .default("false")
            .group(ERRORS, 4)
            .width(Narrow)
            .display_name("Log Errors"),
    )
    .define(
        key("errors.log.include.messages", Boolean, Medium, "Whether the log shows what was in a skipped record.")
            .default("false")
            .group(ERRORS, 5)
            .width(Narrow)
            .display_name("Log Error Details"),
    )
}

/// The keys of our own that a connector of this kind has beside Kafka Connect's.
#[must_use]
pub fn own_keys_def(kind: ConnectorKind) -> ConfigDef {
    const GROUP: &str = "Limits";
    let limit = |(name, default): (&'static str, i64), doc, least: i64, order| {
        let least = Validator::at_least(least);
        key(name, Long, Low, doc).default(default.to_string()).validator(least).group(GROUP, order).width(Narrow)
    };
    match kind {
        ConnectorKind::Source => dead_letter_keys(ConfigDef::new())
            .define(limit(own_keys::BATCH_MAX_RECORDS, "How many records one batch of a task may hold.", 1, 1))
            .define(limit(own_keys::BATCH_MAX_BYTES, "How many bytes one batch of a task may hold.", 1, 2))
            .define(limit(
                own_keys::INFLIGHT_MAX_RECORDS,
                "How many records of a task may wait for their acknowledgement.",
                1,
                3,
            ))
            .define(limit(
                own_keys::INFLIGHT_MAX_BYTES,
                "How many bytes of a task may wait for their acknowledgement.",
                1,
                4,
            ))
            .define(limit(
                own_keys::PARTITIONS_REFRESH_INTERVAL_MS,
                "How often the connector is asked for its partitions again, in milliseconds; 0 is never.",
                0,
                5,
            ))
            .define(
                key(
                    own_keys::EXACTLY_ONCE_SOURCE_SUPPORT,
                    Text,
                    Medium,
                    "Whether this connector writes exactly once: `enabled` or `disabled`; as the worker says, if not set.",
                )
                .null_default()
                .validator(Validator::case_insensitive_valid_string(["enabled", "disabled"]).or_null())
                .group("Exactly Once Support", 5)
                .width(Narrow),
            )
            .define(limit(
                own_keys::TRANSACTION_BOUNDARY_MAX_BYTES,
                "How many bytes end a transaction before its interval does; 0 is no such limit.",
                0,
                6,
            ))
            .define(limit(
                own_keys::TRANSACTION_BOUNDARY_MAX_RECORDS,
                "How many records end a transaction before its interval does; 0 is no such limit.",
                0,
                7,
            )),
        ConnectorKind::Sink => ConfigDef::new().define(limit(
            own_keys::PUT_RETRY_TIMEOUT_MS,
            "How long a put is tried again after retriable errors, in milliseconds; -1 is for ever.",
            -1,
            1,
        )),
    }
}

/// What a worker needs to know of any connector before it starts it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommonSettings {
    /// The connector's name.
    pub name: String,
    /// How many tasks it may have at most.
    pub tasks_max: usize,
}

/// Checks the framework's keys of a connector whose providers' values are in place: Kafka Connect's and our own, and
/// for a sink the rules between its topics.
///
/// The classes of converters are left to whoever makes the converters.
///
/// # Errors
/// Everything that is wrong.
pub fn check_connector(
    kind: ConnectorKind,
    properties: &BTreeMap<String, String>,
) -> Result<CommonSettings, ConfigErrors> {
    let known = KnownClasses::default();
    let framework = match kind {
        ConnectorKind::Source => source_connector_config_def(&known),
        ConnectorKind::Sink => sink_connector_config_def(&known),
    };
    let def = framework.and(&own_keys_def(kind));
    let class_keys = ["key.converter", "value.converter", "header.converter"];
    let mut errors = ConfigErrors::new();
    for report in def.validate(properties) {
        if !class_keys.contains(&report.name.as_str())
            && let Some(message) = report.errors.into_iter().next()
        {
            errors.push(ConfigError::on(report.name, message));
        }
    }
    if kind == ConnectorKind::Sink {
        // A pattern that cannot be compiled was reported above.
        errors.extend(sink_topic_errors(properties).into_iter().flatten());
    }
    errors.into_result(())?;
    let config = def.parse(&without(properties, &class_keys))?;
    Ok(CommonSettings {
        name: config.string("name").unwrap_or_default().to_owned(),
        tasks_max: config.integer("tasks.max").and_then(|n| usize::try_from(n).ok()).unwrap_or(1),
    })
}

/// Beginnings of keys that are passed on: to clients, converters, transformations, and to new topics.
const PASSED_ON: [&str; 9] = [
    "producer.override.",
    "consumer.override.",
    "admin.override.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "transforms.",
    "predicates.",
    "topic.creation.",
];

/// What an operator should be told about the keys of a connector that neither the framework nor the connector knows:
/// they change nothing, and one of them may be a slip.
#[must_use]
pub fn unknown_connector_keys(
    kind: ConnectorKind,
    connector: &ConfigDef,
    properties: &BTreeMap<String, String>,
) -> Vec<Notice> {
    let known = KnownClasses::default();
    let framework = match kind {
        ConnectorKind::Source => source_connector_config_def(&known),
        ConnectorKind::Sink => sink_connector_config_def(&known),
    };
    let def = framework.and(&own_keys_def(kind)).and(connector);
    let unknown = properties
        .keys()
        .filter(|key| def.key(key).is_none() && !PASSED_ON.iter().any(|prefix| key.starts_with(prefix)));
    let notice = |key: &String| {
        let near = nearest(key, def.keys().iter().map(ConfigKey::name));
        let meant = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Notice { level: Level::Warn, message: format!("unknown connector key `{key}`{meant}") }
    };
    unknown.map(notice).collect()
}

fn without(properties: &BTreeMap<String, String>, keys: &[&str]) -> BTreeMap<String, String> {
    let kept = properties.iter().filter(|(key, _)| !keys.contains(&key.as_str()));
    kept.map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: ConnectorKind, pairs: &[(&str, &str)]) -> Result<CommonSettings, String> {
        let properties = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        check_connector(kind, &properties).map_err(|errors| errors.to_string())
    }

    #[test]
    fn the_definitions_are_sound() {
        let known = KnownClasses::default();
        for def in [
            connector_config_def(&known),
            source_connector_config_def(&known),
            sink_connector_config_def(&known),
            own_keys_def(ConnectorKind::Source),
            own_keys_def(ConnectorKind::Sink),
            super::super::standalone_config_def(&known),
            super::super::distributed_config_def(&known),
        ] {
            assert_eq!(def.check(), Ok(()));
        }
    }

    #[test]
    fn every_error_of_a_connector_is_told_at_once() {
        let errors = check(
            ConnectorKind::Sink,
            &[
                ("name", "c"),
                ("tasks.max", "0"),
                ("put.retry.timeout.ms", "x"),
                ("topics", "a,a"),
                ("topics.regex", "("),
            ],
        )
        .unwrap_err();
        assert_eq!(
            errors,
            "Missing required configuration \"connector.class\" which has no default value.\n\
             Invalid value 0 for configuration tasks.max: Value must be at least 1\n\
             Configuration 'topics' values must not be duplicated.\n\
             Invalid value ( for configuration topics.regex: Invalid regex: Unclosed group near index 1\n(\n\
             Invalid value x for configuration put.retry.timeout.ms: Not a number of type LONG\n\
             topics and topics.regex are mutually exclusive options, but both are set.\n\
             topics and topics.regex are mutually exclusive options, but both are set."
        );
    }

    #[test]
    fn unknown_keys_are_told_with_what_was_meant() {
        let keys = ["name", "task.max", "file", "transforms.a.type", "batch.max.record", "topic"];
        let properties = keys.iter().map(|key| ((*key).to_owned(), String::new())).collect();
        let own = ConfigDef::new().define(ConfigKey::new("file", Text));
        let notices = unknown_connector_keys(ConnectorKind::Source, &own, &properties);
        let texts: Vec<&str> = notices.iter().map(|notice| notice.message.as_str()).collect();
        assert_eq!(
            texts,
            [
                "unknown connector key `batch.max.record`; did you mean `batch.max.records`?",
                "unknown connector key `task.max`; did you mean `tasks.max`?",
                "unknown connector key `topic`",
            ]
        );
    }

    #[test]
    fn a_sound_connector_gives_its_name_and_its_tasks() {
        let sound =
            [("name", " c "), ("connector.class", "X"), ("tasks.max", "3"), ("key.converter", "StringConverter")];
        assert_eq!(check(ConnectorKind::Source, &sound), Ok(CommonSettings { name: "c".to_owned(), tasks_max: 3 }));
    }
}
