//! The keys of dead letter queues: Kafka Connect's for sinks, and the same ones for sources.

use std::collections::BTreeMap;

use super::key::key;
use connect_sdk::config::ConfigType::{Boolean, Short, String as Text};
use connect_sdk::config::Importance::Medium;
use connect_sdk::config::Width::Medium as Middle;
use connect_sdk::config::{ConfigDef, ConfigErrors};

pub(super) const TOPIC: &str = "errors.deadletterqueue.topic.name";
const REPLICATION_FACTOR: &str = "errors.deadletterqueue.topic.replication.factor";
const CONTEXT_HEADERS: &str = "errors.deadletterqueue.context.headers.enable";

/// Adds the keys to a definition.
pub(super) fn dead_letter_keys(def: ConfigDef) -> ConfigDef {
    const GROUP: &str = "Error Handling";
    def.define(
        key(TOPIC, Text, Medium, "The topic that takes records that could not be processed; none, if blank.")
            .default("")
            .group(GROUP, 6)
            .width(Middle)
            .display_name("Dead Letter Queue Topic Name"),
    )
    .define(
        key(REPLICATION_FACTOR, Short, Medium, "How many replicas that topic gets.")
            .default("3")
            .group(GROUP, 7)
            .width(Middle)
            .display_name("Dead Letter Queue Topic Replication Factor"),
    )
    .define(
        key(CONTEXT_HEADERS, Boolean, Medium, "Whether such records say in headers what failed.")
            .default("false")
            .group(GROUP, 8)
            .width(Middle)
            .display_name("Enable Error Context Headers"),
    )
}

/// The dead letter queue of one connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeadLetterSettings {
    /// The topic.
    pub(crate) topic: String,
    /// Of the topic, if it has to be made; -1 is the broker's default.
    pub(crate) replication_factor: i16,
    /// Whether records say in headers what failed.
    pub(crate) context_headers: bool,
}

impl DeadLetterSettings {
    /// Reads a connector's properties; nothing if it has no dead letter queue.
    ///
    /// # Errors
    /// Everything that is wrong with the keys.
    pub(crate) fn from_properties(properties: &BTreeMap<String, String>) -> Result<Option<Self>, ConfigErrors> {
        let config = dead_letter_keys(ConfigDef::new()).parse(properties)?;
        let topic = config.string(TOPIC).unwrap_or_default().trim();
        if topic.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            topic: topic.to_owned(),
            replication_factor: config.integer(REPLICATION_FACTOR).and_then(|n| i16::try_from(n).ok()).unwrap_or(3),
            context_headers: config.boolean(CONTEXT_HEADERS) == Some(true),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Option<DeadLetterSettings>, ConfigErrors> {
        DeadLetterSettings::from_properties(&pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn a_blank_topic_is_no_queue_and_the_rest_has_kafkas_defaults() {
        assert_eq!(read(&[(TOPIC, " ")]).unwrap(), None);
        let settings = read(&[(TOPIC, " dlq ")]).unwrap().unwrap();
        assert_eq!((&*settings.topic, settings.replication_factor, settings.context_headers), ("dlq", 3, false));
        let errors = read(&[(TOPIC, "dlq"), (REPLICATION_FACTOR, "many"), (CONTEXT_HEADERS, "maybe")]).unwrap_err();
        assert_eq!(errors.len(), 2);
    }
}
