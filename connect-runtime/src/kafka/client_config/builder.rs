//! Puts a client's configuration together: Java's keys, in layers, turned into librdkafka's. A wrong value is an error that
//! names the key with its prefix; an unknown key is a warning.

use std::{collections::BTreeMap, fmt};

use connect_sdk::config::{ConfigError, ConfigErrors};
use rdkafka::{config::ClientConfig as NativeConfig, error::KafkaError as NativeError, types::RDKafkaConfRes};

use super::{ClientConfig, is_secret};
use crate::{
    config::{ClientDefaults, ClientKind},
    kafka::{
        client_keys::{self, Kind, Target},
        client_security,
    },
};

/// Records of one consumer poll where nothing is set, as in Java.
const MAX_POLL_RECORDS_JAVA: usize = 500;
/// Records of one consumer poll where nothing is set: a larger batch costs less per record.
const MAX_POLL_RECORDS_TUNED: usize = 4000;

/// Native keys that belong to the worker, with what to say about them.
const NATIVE_REFUSED: &[&str] = &[
    "enable.auto.offset.store",
    "auto.commit.enable",
    "enable.partition.eof",
    "delivery.report.only.error",
    "enabled_events",
    "log.queue",
    "opaque",
    "plugin.library.paths",
    "interceptors",
    "default_topic_conf",
    "test.mock.num.brokers",
    "metadata.broker.list",
];

/// One value that was set, and the key that the operator wrote.
#[derive(Clone)]
pub(in super::super) struct Given {
    pub(super) value: String,
    pub(super) written: String,
}

/// Puts a client's configuration together: later layers win.
pub struct ClientConfigBuilder {
    pub(super) kind: ClientKind,
    pub(super) defaults: ClientDefaults,
    pub(super) transactional_id: Option<String>,
    pub(super) instance_id: Option<String>,
    pub(super) entries: BTreeMap<String, Given>,
    pub(super) warnings: Vec<String>,
    pub(super) errors: ConfigErrors,
}

impl fmt::Debug for ClientConfigBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConfigBuilder").field("kind", &self.kind).field("keys", &self.entries.keys()).finish()
    }
}

impl ClientConfigBuilder {
    /// What to do where nothing is set.
    #[must_use]
    pub fn defaults(mut self, defaults: ClientDefaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// The `group.instance.id` of a consumer whose layers set none: its group gives the partitions of a member that was
    /// killed to the next one of this name at once. There is none with `group.protocol=consumer`, whose groups give a
    /// living member's name to nobody.
    #[must_use]
    pub fn instance_id(mut self, id: impl Into<String>) -> Self {
        self.instance_id = Some(id.into());
        self
    }

    /// Sets one of Kafka's keys, below all layers that follow.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<String>) -> Self {
        self.give(key, key, &value.into());
        self
    }

    /// Takes from a worker's configuration what a client of this kind knows, for clients of the worker itself; all other
    /// keys belong to the worker and are passed over.
    #[must_use]
    pub fn originals<'a>(mut self, entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        for (key, value) in entries {
            if let Some(row) = client_keys::find(key, self.kind)
                && !matches!(row.target, Target::Ignored(_))
                && !matches!(key, "group.id" | "client.id")
            {
                self.give(key, key, value);
            }
        }
        self
    }

    /// Adds the entries that begin with `prefix` (such as `producer.` or `consumer.override.`), without it.
    #[must_use]
    pub fn prefixed<'a>(mut self, prefix: &str, entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        for (written, value) in entries {
            // `producer.override.` is a prefix of connectors; in a worker's file it is no setting of `producer.`.
            if let Some(key) = written.strip_prefix(prefix)
                && !(prefix.matches('.').count() == 1 && key.starts_with("override."))
            {
                self.give(key, written, value);
            }
        }
        self
    }

    /// Makes the producer transactional, above all layers: what an operator has set for the id or against idempotence is
    /// replaced with a warning, as Kafka's worker does it.
    #[must_use]
    pub fn transactional(mut self, id: impl Into<String>) -> Self {
        self.transactional_id = Some(id.into());
        self
    }

    fn give(&mut self, key: &str, written: &str, value: &str) {
        self.entries.insert(key.to_owned(), Given { value: value.to_owned(), written: written.to_owned() });
    }

    /// Checks and translates everything; the second part of the answer are warnings for the log.
    ///
    /// # Errors
    /// Every wrong value, each with the key as it was written and what is allowed.
    pub fn build(mut self) -> Result<(ClientConfig, Vec<String>), ConfigErrors> {
        self.force_transactional();
        let given = std::mem::take(&mut self.entries);
        let mut read = Read { entries: BTreeMap::new() };
        let mut out = BTreeMap::new();
        for (key, given) in given {
            self.take(key, given, &mut read, &mut out);
        }
        self.common(&read, &mut out);
        match self.kind {
            ClientKind::Producer => self.producer(&read, &mut out),
            ClientKind::Consumer => self.consumer(&read, &mut out),
            ClientKind::Admin => {}
        }
        let mut oauth = None;
        client_security::translate(&read, &mut out, &mut oauth, &mut self.warnings, &mut self.errors);
        let max_poll_records = read.int("max.poll.records").and_then(|n| usize::try_from(n).ok());
        let config = ClientConfig {
            kind: self.kind,
            entries: out,
            oauth,
            max_poll_records: max_poll_records.unwrap_or(match self.defaults {
                ClientDefaults::Tuned => MAX_POLL_RECORDS_TUNED,
                ClientDefaults::Java => MAX_POLL_RECORDS_JAVA,
            }),
            exclude_internal_topics: read.bool("exclude.internal.topics").unwrap_or(true),
        };
        // What librdkafka itself does not take is found here and not when the client is needed.
        if self.errors.is_empty() {
            for (key, value) in &config.entries {
                if let Some(why) = native_refusal(key, value) {
                    let written = read.written(key);
                    self.errors.push(ConfigError::on(written, format!("value of `{written}` is not usable: {why}")));
                }
            }
        }
        self.errors.into_result((config, self.warnings))
    }

    /// Replaces what would be against the transactional id that the worker gives.
    fn force_transactional(&mut self) {
        let Some(id) = self.transactional_id.take() else { return };
        for (key, value) in [("transactional.id", id.as_str()), ("enable.idempotence", "true")] {
            if let Some(given) = self.entries.get(key).filter(|given| !given.value.trim().eq_ignore_ascii_case(value)) {
                let written = &given.written;
                self.warnings.push(format!(
                    "`{written}` has no effect: it is `{value}` for the producer of an exactly-once task"
                ));
            }
            self.give(key, key, value);
        }
        for key in ["delivery.timeout.ms", "message.timeout.ms"] {
            if let Some(given) = self.entries.remove(key).filter(|given| given.value.trim() != i32::MAX.to_string()) {
                self.warnings.push(format!(
                    "`{}` has no effect: records of a transaction are tried for as long as `transaction.timeout.ms` allows",
                    given.written
                ));
            }
        }
    }

    /// Checks one entry and passes on what needs no further thought.
    fn take(&mut self, key: String, given: Given, read: &mut Read, out: &mut BTreeMap<String, String>) {
        let Some(row) = client_keys::find(&key, self.kind) else {
            self.take_unlisted(key, given, read, out);
            return;
        };
        let value = match client_keys::read(row.kind, &given.value) {
            Ok(value) => value,
            Err(allowed) => {
                let shown = if matches!(row.kind, Kind::Secret) { "[hidden]" } else { given.value.trim() };
                let written = &given.written;
                self.errors
                    .push(ConfigError::on(written, format!("value of `{written}` is `{shown}`; it must be {allowed}")));
                return;
            }
        };
        match row.target {
            Target::Same => drop(out.insert(key.clone(), value.clone())),
            Target::As(name) => drop(out.insert(name.to_owned(), value.clone())),
            Target::Own => {}
            Target::Ignored(why) => {
                if self.is_worth_a_word(&key, &value) {
                    self.warnings.push(format!("`{}` has no effect: {why}", given.written));
                }
            }
        }
        read.entries.insert(key, Given { value, written: given.written });
    }

    /// Java's defaults, and what Java workers and their samples always write, need no warning.
    fn is_worth_a_word(&self, key: &str, value: &str) -> bool {
        !matches!(
            (key, value),
            ("key.serializer" | "value.serializer" | "key.deserializer" | "value.deserializer" | "config.providers", _)
                | ("max.block.ms", "9223372036854775807")
                | ("enable.auto.commit", "false")
        )
    }

    fn take_unlisted(&mut self, key: String, given: Given, read: &mut Read, out: &mut BTreeMap<String, String>) {
        let written = &given.written;
        if key.starts_with("metrics.context.") || key.starts_with("ssl.engine.factory.") {
            return;
        }
        if NATIVE_REFUSED.contains(&key.as_str()) || key.ends_with("_cb") {
            self.warnings.push(format!("`{written}` has no effect: the worker sets it itself"));
            return;
        }
        match native_result(&key, &given.value) {
            Err(RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN) => {
                let near = client_keys::nearest(&key, self.kind);
                let near = near.map_or_else(String::new, |near| {
                    format!("; did you mean `{}{near}`?", &written[..written.len() - key.len()])
                });
                self.warnings
                    .push(format!("`{written}` is not known to a Kafka {} and has no effect{near}", self.noun()));
            }
            // A key of librdkafka's own, which has more to set than Java's client. A wrong value is reported with the
            // others, when all are checked.
            Ok(()) | Err(_) => {
                out.insert(key.clone(), given.value.trim().to_owned());
                read.entries.insert(key, given);
            }
        }
    }

    fn noun(&self) -> &'static str {
        match self.kind {
            ClientKind::Producer => "producer",
            ClientKind::Consumer => "consumer",
            ClientKind::Admin => "admin client",
        }
    }
}

/// The entries that were read, by Kafka's key, in the form that librdkafka reads.
pub(in super::super) struct Read {
    entries: BTreeMap<String, Given>,
}

impl Read {
    pub(in super::super) fn text(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|given| given.value.as_str())
    }

    pub(in super::super) fn int(&self, key: &str) -> Option<i64> {
        self.text(key)?.trim().parse().ok()
    }

    pub(in super::super) fn bool(&self, key: &str) -> Option<bool> {
        self.text(key).map(|text| text == "true")
    }

    /// The key as the operator wrote it, with its prefix.
    pub(in super::super) fn written<'a>(&'a self, key: &'a str) -> &'a str {
        self.entries.get(key).map_or(key, |given| &given.written)
    }
}

fn native_result(key: &str, value: &str) -> Result<(), RDKafkaConfRes> {
    match NativeConfig::new().set(key, value).create_native_config() {
        Ok(_) => Ok(()),
        Err(NativeError::ClientConfig(code, ..)) => Err(code),
        Err(_) => Err(RDKafkaConfRes::RD_KAFKA_CONF_INVALID),
    }
}

/// Why librdkafka refuses an entry; never with the value of a secret.
fn native_refusal(key: &str, value: &str) -> Option<String> {
    match NativeConfig::new().set(key, value).create_native_config() {
        Ok(_) => None,
        Err(_) if is_secret(key) => Some("the client library refuses it".to_owned()),
        Err(NativeError::ClientConfig(_, why, ..)) => Some(why),
        Err(error) => Some(error.to_string()),
    }
}
