//! The keys of sink connectors, and the rules between their topics.

use std::collections::BTreeMap;

use super::classes::KnownClasses;
use super::connector::connector_config_def;
use super::dead_letters::{TOPIC as DLQ_TOPIC, dead_letter_keys};
use super::key::key;
use connect_sdk::config::ConfigType::{List, String as Text};
use connect_sdk::config::Importance::High;
use connect_sdk::config::Width::Long as Wide;
use connect_sdk::config::{ConfigDef, ConfigError, ParsedValue, Validator};
use connect_sdk::java::regex::{JavaRegex, RegexError};

const TOPICS: &str = "topics";
const TOPICS_REGEX: &str = "topics.regex";

/// The keys that every sink connector has.
#[must_use]
pub fn sink_connector_config_def(classes: &KnownClasses) -> ConfigDef {
    let def = connector_config_def(classes)
        .define(
            key(TOPICS, List, High, "The topics that are read.")
                .default("")
                .validator(Validator::any_non_duplicate_values(true, false))
                .group("Common", 4)
                .width(Wide)
                .display_name("Topics"),
        )
        .define(
            key(
                TOPICS_REGEX,
                Text,
                High,
                "A Java regular expression: all topics are read whose whole name matches it.",
            )
            .default("")
            .validator(regex())
            .group("Common", 4)
            .width(Wide)
            .display_name("Topics regex"),
        );
    dead_letter_keys(def)
}

fn regex() -> Validator {
    Validator::lambda("valid regex", |key, value| match value {
        ParsedValue::String(pattern) => JavaRegex::new(pattern)
            .map(drop)
            .map_err(|error| ConfigError::invalid(key, value, &format!("Invalid regex: {error}"))),
        _ => Err(ConfigError::invalid(key, value, "entry must be non null")),
    })
}

/// The topics of `topics`: blank items and repetitions do not count.
#[must_use]
pub fn sink_topics(properties: &BTreeMap<String, String>) -> Vec<String> {
    let text = properties.get(TOPICS).map(String::as_str);
    let Ok(ParsedValue::List(items)) = ParsedValue::parse(TOPICS, text, List) else { return Vec::new() };
    let mut topics: Vec<String> = Vec::new();
    for item in items {
        if !item.is_empty() && !topics.contains(&item) {
            topics.push(item);
        }
    }
    topics
}

/// What is wrong between `topics`, `topics.regex` and the topic of the dead letter queue, each on the key concerned.
///
/// # Errors
/// `topics.regex` cannot be compiled, or its search for the dead letter queue was given up.
pub fn sink_topic_errors(properties: &BTreeMap<String, String>) -> Result<Vec<ConfigError>, RegexError> {
    let set = |key: &str| properties.get(key).map(String::as_str).filter(|text| !text.trim().is_empty());
    let mut errors = Vec::new();
    let mut on_both = |text: &str| errors.extend([TOPICS, TOPICS_REGEX].map(|key| ConfigError::on(key, text)));
    match (set(TOPICS), set(TOPICS_REGEX)) {
        (Some(_), Some(_)) => on_both("topics and topics.regex are mutually exclusive options, but both are set."),
        (None, None) => on_both("Must configure one of topics or topics.regex"),
        _ => {}
    }
    let Some(dlq) = set(DLQ_TOPIC).map(str::trim) else { return Ok(errors) };
    if set(TOPICS).is_some() {
        let topics = sink_topics(properties);
        if topics.iter().any(|topic| topic == dlq) {
            let list = topics.join(", ");
            let text = format!(
                "The DLQ topic '{dlq}' may not be included in the list of topics ('topics=[{list}]') consumed by the connector"
            );
            errors.push(ConfigError::on(TOPICS, text));
        }
    }
    if let Some(pattern) = set(TOPICS_REGEX)
        && JavaRegex::new(pattern)?.matches(dlq)?
    {
        let text = format!(
            "The DLQ topic '{dlq}' may not be matched by the regex for the topics ('topics.regex={pattern}') consumed by the \
             connector"
        );
        errors.push(ConfigError::on(TOPICS_REGEX, text));
    }
    Ok(errors)
}
