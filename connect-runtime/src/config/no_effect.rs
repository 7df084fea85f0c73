//! Keys of workers that are read and checked but change nothing here, and why.

use connect_sdk::config::own_keys::EXACTLY_ONCE_SOURCE_SUPPORT;

/// Only a Java virtual machine has what these set.
const JVM: &str = "only a Java worker has use for it";
/// What these set is part of the REST API.
const REST: &str = "this worker opens no REST API";
/// What these set is part of the group of workers.
const GROUP: &str = "a standalone worker is in no group";

/// Whole keys.
const KEYS: [(&str, &str); 26] = [
    ("plugin.path", "plugins are linked into this worker"),
    ("plugin.discovery", "plugins are linked into this worker"),
    ("metric.reporters", JVM),
    ("metrics.sample.window.ms", JVM),
    ("metrics.num.samples", JVM),
    ("metrics.recording.level", JVM),
    ("rest.extension.classes", JVM),
    ("ssl.provider", JVM),
    ("ssl.keymanager.algorithm", JVM),
    ("ssl.trustmanager.algorithm", JVM),
    ("ssl.secure.random.implementation", JVM),
    ("ssl.engine.factory.class", JVM),
    ("sasl.client.callback.handler.class", JVM),
    ("sasl.login.callback.handler.class", JVM),
    ("sasl.login.class", JVM),
    ("sasl.oauthbearer.jwt.retriever.class", JVM),
    ("sasl.oauthbearer.jwt.validator.class", JVM),
    ("listeners", REST),
    ("rest.advertised.host.name", REST),
    ("rest.advertised.port", REST),
    ("rest.advertised.listener", REST),
    ("access.control.allow.origin", REST),
    ("access.control.allow.methods", REST),
    ("response.http.headers.config", REST),
    ("ssl.client.auth", REST),
    ("admin.listeners", REST),
];

/// Whole keys that also need the REST API: the list of topics in use can only be asked for there.
const TRACKING: [&str; 2] = ["topic.tracking.enable", "topic.tracking.allow.reset"];

/// Beginnings of keys.
const PREFIXES: [(&str, &str); 5] = [
    ("listeners.https.", REST),
    ("admin.listeners.https.", REST),
    ("metrics.context.", JVM),
    ("internal.key.converter", "the format of internal topics is fixed"),
    ("internal.value.converter", "the format of internal topics is fixed"),
];

/// Keys of workers in a group.
const GROUP_KEYS: [&str; 21] = [
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "rebalance.timeout.ms",
    "worker.sync.timeout.ms",
    "worker.unsync.backoff.ms",
    "config.storage.topic",
    "config.storage.replication.factor",
    "status.storage.topic",
    "status.storage.partitions",
    "status.storage.replication.factor",
    "connect.protocol",
    "scheduled.rebalance.max.delay.ms",
    "inter.worker.key.generation.algorithm",
    "inter.worker.key.size",
    "inter.worker.key.ttl.ms",
    "inter.worker.signature.algorithm",
    "inter.worker.verification.algorithms",
    "config.storage.partitions",
    "config.storage.cleanup.policy",
    "offset.storage.cleanup.policy",
    "status.storage.cleanup.policy",
];

/// Why a key changes nothing in a standalone worker; `None` if it does something, or is unknown.
pub(super) fn why_no_effect(key: &str) -> Option<&'static str> {
    if key == EXACTLY_ONCE_SOURCE_SUPPORT {
        return Some(
            "in a standalone worker each connector has this key for itself: set it in the connector's configuration",
        );
    }
    if TRACKING.contains(&key) {
        return Some(REST);
    }
    if GROUP_KEYS.contains(&key) {
        return Some(if key.ends_with(".cleanup.policy") { "internal topics are always compacted" } else { GROUP });
    }
    let whole = KEYS.iter().find(|(known, _)| *known == key);
    whole.or_else(|| PREFIXES.iter().find(|(prefix, _)| key.starts_with(prefix))).map(|(_, why)| *why)
}
