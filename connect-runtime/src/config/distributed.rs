//! The keys of a worker in a group, as Kafka Connect defines them.

use super::classes::KnownClasses;
use super::client_keys::client_keys;
use super::key::{key, partitions, replication_factor};
use super::worker_keys::worker_keys;
use connect_sdk::config::ConfigDef;
use connect_sdk::config::ConfigType::*;
use connect_sdk::config::Importance::*;
use connect_sdk::config::Validator;
use connect_sdk::config::{ConfigError, ParsedValue};

/// The keys of a worker in a group.
#[must_use]
pub fn distributed_config_def(classes: &KnownClasses) -> ConfigDef {
    client_keys(worker_keys(classes))
        .define(key("group.id", String, High, "The name of the group of workers."))
        .define(
            key(
                "session.timeout.ms",
                Int,
                High,
                "After how long without a report a worker is taken for lost, in milliseconds.",
            )
            .default("10000"),
        )
        .define(
            key("rebalance.timeout.ms", Int, High, "How long workers may take to join a rebalance, in milliseconds.")
                .default("60000"),
        )
        .define(
            key("heartbeat.interval.ms", Int, High, "How often a worker reports to the group, in milliseconds.")
                .default("3000"),
        )
        .define(
            key(
                "exactly.once.source.support",
                String,
                High,
                "Whether source connectors write exactly once: `disabled`, `preparing` or `enabled`.",
            )
            .default("disabled")
            .validator(Validator::case_insensitive_valid_string(["disabled", "preparing", "enabled"])),
        )
        .define(
            key(
                "worker.sync.timeout.ms",
                Int,
                Medium,
                "How long reading the configuration topic to its end may take, in milliseconds.",
            )
            .default("3000"),
        )
        .define(
            key(
                "worker.unsync.backoff.ms",
                Int,
                Medium,
                "How long a worker that cannot catch up stays out of the group, in milliseconds.",
            )
            .default("300000"),
        )
        .define(key("offset.storage.topic", String, High, "The topic that keeps the offsets of source connectors."))
        .define(
            key("offset.storage.partitions", Int, Low, "How many partitions the offset topic gets.")
                .default("25")
                .validator(partitions()),
        )
        .define(
            key("offset.storage.replication.factor", Short, Low, "How many replicas the offset topic gets.")
                .default("3")
                .validator(replication_factor()),
        )
        .define(key("config.storage.topic", String, High, "The topic that keeps the configurations of connectors."))
        .define(
            key("config.storage.replication.factor", Short, Low, "How many replicas the configuration topic gets.")
                .default("3")
                .validator(replication_factor()),
        )
        .define(key("status.storage.topic", String, High, "The topic that keeps the states of connectors and tasks."))
        .define(
            key("status.storage.partitions", Int, Low, "How many partitions the status topic gets.")
                .default("5")
                .validator(partitions()),
        )
        .define(
            key("status.storage.replication.factor", Short, Low, "How many replicas the status topic gets.")
                .default("3")
                .validator(replication_factor()),
        )
        .define(
            key("connect.protocol", String, Low, "How workers share their work: `eager`, `compatible` or `sessioned`.")
                .default("sessioned")
                .validator(connect_protocol()),
        )
        .define(
            key(
                "scheduled.rebalance.max.delay.ms",
                Int,
                Low,
                "How long the work of a lost worker waits for its return, in milliseconds.",
            )
            .default("300000")
            .validator(Validator::between(0, 2147483647)),
        )
        .define(
            key("inter.worker.key.ttl.ms", Int, Low, "How long a session key is used, in milliseconds.")
                .default("3600000")
                .validator(Validator::between(0, 2147483647)),
        )
        .define(
            key("inter.worker.key.generation.algorithm", String, Low, "How session keys between workers are made.")
                .default("HmacSHA256")
                .validator(mac_algorithm()),
        )
        .define(
            key(
                "inter.worker.key.size",
                Int,
                Low,
                "The size of session keys in bits; not set means that of the algorithm.",
            )
            .null_default(),
        )
        .define(
            key("inter.worker.signature.algorithm", String, Low, "How requests between workers are signed.")
                .default("HmacSHA256")
                .validator(mac_algorithm()),
        )
        .define(
            key(
                "inter.worker.verification.algorithms",
                List,
                Low,
                "Which signatures of requests between workers are accepted.",
            )
            .default("HmacSHA256")
            .validator(verification_algorithms()),
        )
}

/// How workers of a group share their work, in any case.
fn connect_protocol() -> Validator {
    Validator::lambda("[eager, compatible, sessioned]", |key, value| {
        let known = |text: &str| ["eager", "compatible", "sessioned"].contains(&text.to_lowercase().as_str());
        match value {
            ParsedValue::String(text) if known(text) => Ok(()),
            _ => Err(ConfigError::invalid(key, value, "Invalid Connect protocol compatibility")),
        }
    })
}

/// The signatures that this worker can make and check.
const MAC_ALGORITHMS: [&str; 6] = ["HmacSHA1", "HmacSHA224", "HmacSHA256", "HmacSHA384", "HmacSHA512", "HmacMD5"];

fn unsupported(key: &str, value: &ParsedValue) -> ConfigError {
    let supported = MAC_ALGORITHMS.join(", ");
    ConfigError::invalid(
        key,
        value,
        &format!("the algorithm is not supported; the supported algorithms are: [{supported}]"),
    )
}

fn mac_algorithm() -> Validator {
    Validator::lambda("an HMAC algorithm", |key, value| match value {
        ParsedValue::String(name) if MAC_ALGORITHMS.contains(&name.as_str()) => Ok(()),
        _ => Err(unsupported(key, value)),
    })
}

fn verification_algorithms() -> Validator {
    Validator::lambda("one or more HMAC algorithms", |key, value| {
        let ParsedValue::List(names) = value else {
            return Err(ConfigError::invalid(key, value, "entry must be non null"));
        };
        if names.is_empty() {
            return Err(ConfigError::invalid(
                key,
                value,
                "At least one signature verification algorithm must be provided",
            ));
        }
        names.iter().try_for_each(|name| {
            if MAC_ALGORITHMS.contains(&name.as_str()) { Ok(()) } else { Err(unsupported(key, &name.as_str().into())) }
        })
    })
}
