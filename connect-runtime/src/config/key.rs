//! Short forms for definitions of keys, and checks that several definitions share.

use connect_sdk::config::{ConfigError, ConfigKey, ConfigType, Importance, ParsedValue, Validator};

/// A required key.
pub(super) fn key(name: &'static str, kind: ConfigType, importance: Importance, doc: &'static str) -> ConfigKey {
    ConfigKey::new(name, kind).importance(importance).doc(doc)
}

/// A positive number, or -1 for what the broker does by default; `what` begins the message.
fn positive_or_broker_default(what: &'static str, allows: &'static str) -> Validator {
    Validator::lambda(allows, move |key, value| {
        let number = match value {
            ParsedValue::Int(number) => i64::from(*number),
            ParsedValue::Short(number) => i64::from(*number),
            _ => return Err(ConfigError::invalid(key, value, "entry must be non null")),
        };
        if number > 0 || number == -1 {
            return Ok(());
        }
        Err(ConfigError::invalid(key, value, &format!("{what}, or -1 to use the broker's default")))
    })
}

/// How many partitions a new topic gets.
pub(super) fn partitions() -> Validator {
    positive_or_broker_default(
        "Number of partitions must be positive",
        "positive number, or -1 to use the broker's default",
    )
}

/// How many replicas a new topic gets.
pub(super) fn replication_factor() -> Validator {
    positive_or_broker_default(
        "Replication factor must be positive and not larger than the number of brokers in the Kafka cluster",
        "positive number not larger than the number of brokers, or -1 to use the broker's default",
    )
}

/// A list whose items differ; Kafka's check of aliases, which lets one empty alias pass.
pub(super) fn unique_aliases(allows: &'static str) -> Validator {
    let unique = Validator::lambda(allows, |key, value| match value {
        ParsedValue::List(items) if items.iter().enumerate().any(|(i, item)| items[..i].contains(item)) => {
            Err(ConfigError::invalid(key, value, "Duplicate alias provided."))
        }
        _ => Ok(()),
    });
    Validator::composite([Validator::non_null(), unique])
}
