//! The keys of source connectors.

use super::classes::KnownClasses;
use super::connector::connector_config_def;
use super::key::{key, unique_aliases};
use connect_sdk::config::ConfigType::{List, Long, String as Text};
use connect_sdk::config::Importance::{Low, Medium};
use connect_sdk::config::Width::{Long as Wide, Short as Narrow};
use connect_sdk::config::{ConfigDef, Validator};

const EXACTLY_ONCE: &str = "Exactly Once Support";

/// The keys that every source connector has.
#[must_use]
pub fn source_connector_config_def(classes: &KnownClasses) -> ConfigDef {
    connector_config_def(classes)
        .define(
            key("topic.creation.groups", List, Low, "Groups of topics that are created with settings of their own.")
                .default("")
                .validator(unique_aliases("unique topic creation groups"))
                .group("Topic Creation", 1)
                .width(Wide)
                .display_name("Topic Creation Groups"),
        )
        .define(
            key("exactly.once.support", Text, Medium, "Whether the connector must be able to write exactly once.")
                .default("requested")
                .validator(Validator::case_insensitive_valid_string(["required", "requested"]))
                .group(EXACTLY_ONCE, 2)
                .width(Narrow)
                .display_name("Exactly once support"),
        )
        .define(
            key(
                "transaction.boundary",
                Text,
                Medium,
                "Where transactions end: with a poll, an interval, or as the connector says.",
            )
            .default("poll")
            .validator(Validator::case_insensitive_valid_string(["interval", "poll", "connector"]))
            .group(EXACTLY_ONCE, 3)
            .width(Narrow)
            .display_name("Transaction Boundary"),
        )
        .define(
            key("transaction.boundary.interval.ms", Long, Low, "How long a transaction lasts, in milliseconds.")
                .null_default()
                .validator(Validator::at_least(0).or_null())
                .group(EXACTLY_ONCE, 4)
                .width(Narrow)
                .display_name("Transaction boundary interval"),
        )
        .define(
            key("offsets.storage.topic", Text, Low, "The topic of this connector's offsets; the worker's, if not set.")
                .null_default()
                .validator(Validator::non_empty_string())
                .group("offsets.topic", 1)
                .width(Wide)
                .display_name("Offsets topic"),
        )
}
