//! Configuration keys that belong to the framework and that a plugin's own configuration cannot use.
//!
//! The derive macro refuses them at compile time. A proc-macro crate and the crate that exports it cannot share code,
//! so `connect-sdk` and `connect-macros` have a copy each; a test of `connect-sdk` keeps the two equal, byte for byte.

/// Keys that every connector has, by their whole name.
pub const RESERVED_KEYS: &[&str] = &[
    "name",
    "connector.class",
    "connector.plugin.version",
    "tasks.max",
    "tasks.max.enforce",
    "task.class",
    "task.partitions",
    "key.converter",
    "value.converter",
    "header.converter",
    "transforms",
    "predicates",
    "config.action.reload",
    "topics",
    "topics.regex",
    "exactly.once.support",
    "exactly.once.source.support",
    "transaction.boundary",
    "offsets.storage.topic",
    "batch.max.records",
    "batch.max.bytes",
    "inflight.max.records",
    "inflight.max.bytes",
    "partitions.refresh.interval.ms",
    "put.retry.timeout.ms",
];

/// Beginnings of keys that belong to the framework.
pub const RESERVED_PREFIXES: &[&str] = &[
    "errors.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "transforms.",
    "predicates.",
    "transaction.boundary.",
    "topic.creation.",
    "producer.override.",
    "consumer.override.",
    "admin.override.",
];

/// Keys that every transformation has, without the prefix of its alias.
pub const RESERVED_OF_TRANSFORMATIONS: &[&str] = &["type", "predicate", "negate", "plugin.version"];

/// Keys that every predicate has, without the prefix of its alias.
pub const RESERVED_OF_PREDICATES: &[&str] = &["type", "plugin.version"];

/// Keys that every converter has, without the prefix of its place.
pub const RESERVED_OF_CONVERTERS: &[&str] = &["converter.type", "plugin.version"];

/// The entry of the two lists that keeps a connector from using `key`.
#[must_use]
pub fn reserved_by(key: &str) -> Option<&'static str> {
    let whole = RESERVED_KEYS.iter().find(|reserved| **reserved == key);
    whole.or_else(|| RESERVED_PREFIXES.iter().find(|prefix| key.starts_with(**prefix))).copied()
}

#[cfg(test)]
mod tests {
    #[test]
    fn framework_keys_are_refused_and_common_author_keys_are_not() {
        for (key, by) in [
            ("name", Some("name")),
            ("errors.tolerance", Some("errors.")),
            ("transforms.a.type", Some("transforms.")),
            ("transaction.boundary.interval.ms", Some("transaction.boundary.")),
            ("topic", None),
            ("file", None),
            ("batch.size", None),
            ("names", None),
            ("errors", None),
        ] {
            assert_eq!(super::reserved_by(key), by, "{key}");
        }
    }
}
