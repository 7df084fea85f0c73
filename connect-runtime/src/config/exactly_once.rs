//! Exactly-once sources (KIP-618) as far as configuration goes: whether a connector is one, and what is wrong with it then.

use std::collections::BTreeMap;

use super::{Level, Notice};
use connect_sdk::config::{ConfigError, ConfigErrors, own_keys};
use connect_sdk::source::{ExactlyOnce, SourceMeta, Viable};

const SUPPORT: &str = "exactly.once.support";
const BOUNDARY: &str = "transaction.boundary";
const BOUNDARY_INTERVAL: &str = "transaction.boundary.interval.ms";
const TRANSACTIONAL_ID: &str = "producer.override.transactional.id";
const OFFSETS_TOPIC: &str = "offsets.storage.topic";
/// The own keys that bound a transaction beside its interval.
const BOUNDARY_MAXIMA: [&str; 2] =
    [own_keys::TRANSACTION_BOUNDARY_MAX_BYTES.0, own_keys::TRANSACTION_BOUNDARY_MAX_RECORDS.0];

/// `exactly.once.source.support` of a worker in a group, with Kafka's meaning.
#[allow(clippy::exhaustive_enums, reason = "the three steps of Kafka's upgrade")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExactlyOnceMode {
    /// Source tasks write without transactions.
    #[default]
    Disabled,
    /// As `Disabled`, but the leader writes the configuration topic in transactions: the step in between of an upgrade.
    Preparing,
    /// Source tasks write in transactions.
    Enabled,
}

/// What a worker offers to exactly-once sources.
#[allow(clippy::exhaustive_enums, reason = "the kinds of workers")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExactlyOnceWorker {
    /// A worker in a group.
    Distributed(ExactlyOnceMode),
    /// A worker for itself: each connector switches exactly-once on for itself.
    Standalone {
        /// Whether `offset.storage.topic` is set, so that offsets are in Kafka.
        offsets_in_topic: bool,
    },
    /// A broker inside the process, which has no transactions to speak of.
    Development,
}

/// Whether a source connector is asked to write exactly once: its own `exactly.once.source.support`, else the worker's.
///
/// A value that is neither `enabled` nor `disabled` is reported by the check of that key and counts as not set.
#[must_use]
pub fn exactly_once_asked(properties: &BTreeMap<String, String>, worker: &ExactlyOnceWorker) -> bool {
    match text(properties, own_keys::EXACTLY_ONCE_SOURCE_SUPPORT) {
        Some(value) if value.eq_ignore_ascii_case("enabled") => true,
        Some(value) if value.eq_ignore_ascii_case("disabled") => false,
        _ => *worker == ExactlyOnceWorker::Distributed(ExactlyOnceMode::Enabled),
    }
}

/// Whether the tasks of a source connector write in transactions: asked for, on a worker that can.
#[must_use]
pub fn exactly_once_source(properties: &BTreeMap<String, String>, worker: &ExactlyOnceWorker) -> bool {
    *worker != ExactlyOnceWorker::Development && exactly_once_asked(properties, worker)
}

/// Judges everything about a source connector that has to do with exactly-once, beyond the values of single keys.
///
/// `viable` is the connector's own word on this configuration; none if its configuration is wrong otherwise.
#[must_use]
pub fn check_exactly_once(
    source: &SourceMeta,
    viable: Option<&Viable>,
    properties: &BTreeMap<String, String>,
    worker: &ExactlyOnceWorker,
) -> (ConfigErrors, Vec<Notice>) {
    let mut found = Found::default();
    found.support(source, viable, properties, worker);
    found.boundary(source, properties);
    if exactly_once_source(properties, worker) {
        found.offsets_topic(properties, worker);
        found.replaced_settings(properties);
        if let ExactlyOnce::SupportedUntested(why) = source.exactly_once {
            found.warn(format!("exactly-once is promised by `{}` without a replay test: {why}", source.name));
        }
    } else {
        found.without_effect(properties, worker);
    }
    (found.errors, found.notices)
}

/// What is wrong, and what is odd.
#[derive(Default)]
struct Found {
    errors: ConfigErrors,
    notices: Vec<Notice>,
}

impl Found {
    fn refuse(&mut self, key: &str, why: impl Into<String>) {
        self.errors.push(ConfigError::on(key, why));
    }

    fn warn(&mut self, message: String) {
        self.notices.push(Notice { level: Level::Warn, message });
    }

    /// As `DistributedHerder.validateSourceConnectorExactlyOnceSupport`, with the way out and the author's reason.
    fn support(
        &mut self,
        source: &SourceMeta,
        viable: Option<&Viable>,
        properties: &BTreeMap<String, String>,
        worker: &ExactlyOnceWorker,
    ) {
        const UNSUPPORTED: &str =
            "The connector does not support exactly-once semantics with the provided configuration.";
        if !is(properties, SUPPORT, "required") {
            return;
        }
        let key = own_keys::EXACTLY_ONCE_SOURCE_SUPPORT;
        match worker {
            ExactlyOnceWorker::Development => self.warn(format!(
                "`{SUPPORT}=required` cannot be kept by `connect dev`: its broker has no transaction isolation"
            )),
            _ if exactly_once_asked(properties, worker) => {}
            _ if is(properties, key, "disabled") => self.refuse(
                SUPPORT,
                format!("`{SUPPORT}` is `required`, but `{key}` of the connector is `disabled`; set it to `enabled`"),
            ),
            ExactlyOnceWorker::Distributed(_) => self.refuse(
                SUPPORT,
                format!(
                    "This worker does not have exactly-once source support enabled. `{key}=enabled` in the connector's \
                     configuration enables it for this connector, in the workers' configuration for all"
                ),
            ),
            ExactlyOnceWorker::Standalone { .. } => self.refuse(
                SUPPORT,
                format!(
                    "This worker does not have exactly-once source support enabled. `{key}=enabled` in the connector's \
                     configuration enables it for this connector"
                ),
            ),
        }
        if let ExactlyOnce::Unsupported(why) = source.exactly_once {
            self.refuse(SUPPORT, format!("{UNSUPPORTED} Its author says of `{}`: {why}", source.name));
        } else if let Some(Viable::No(why)) = viable {
            self.refuse(SUPPORT, format!("{UNSUPPORTED} `{}` says: {why}", source.name));
        }
    }

    /// As `DistributedHerder.validateSourceConnectorTransactionBoundary`; the maxima are our own.
    fn boundary(&mut self, source: &SourceMeta, properties: &BTreeMap<String, String>) {
        if is(properties, BOUNDARY, "connector") && !source.defines_transactions {
            self.refuse(
                BOUNDARY,
                "The connector does not support connector-defined transaction boundaries with the given configuration. \
                 Please reconfigure it to use a different transaction boundary definition.",
            );
        }
        let boundary = text(properties, BOUNDARY).unwrap_or("poll");
        if boundary.eq_ignore_ascii_case("interval") {
            return;
        }
        for key in BOUNDARY_MAXIMA {
            if text(properties, key).is_some_and(|value| value != "0") {
                self.refuse(
                    key,
                    format!(
                        "`{key}` bounds the transactions of `{BOUNDARY}=interval`, but `{BOUNDARY}` is `{boundary}`"
                    ),
                );
            }
        }
    }

    /// Offsets go into the transaction of the records: they must be in a topic.
    fn offsets_topic(&mut self, properties: &BTreeMap<String, String>, worker: &ExactlyOnceWorker) {
        if *worker == (ExactlyOnceWorker::Standalone { offsets_in_topic: false })
            && text(properties, OFFSETS_TOPIC).is_none()
        {
            self.refuse(
                OFFSETS_TOPIC,
                format!(
                    "an exactly-once source needs its offsets in Kafka, but this worker has only an offset file; set \
                     `offset.storage.topic` in the worker's configuration, or `{OFFSETS_TOPIC}` in the connector's. Offsets \
                     that are in the file are still found"
                ),
            );
        }
    }

    /// Client settings of the connector that exactly-once replaces, as `Worker.exactlyOnceSourceTaskProducerConfigs` and
    /// `exactlyOnceSourceOffsetsConsumerConfigs` do.
    fn replaced_settings(&mut self, properties: &BTreeMap<String, String>) {
        const REPLACED: [(&str, &str, &str); 3] = [
            (TRANSACTIONAL_ID, "", "the worker gives every task its own transactional id"),
            ("producer.override.enable.idempotence", "true", "a transactional producer is always idempotent"),
            ("consumer.override.isolation.level", "read_committed", "offsets are read as they were committed"),
        ];
        for (key, same, why) in REPLACED {
            if text(properties, key).is_some_and(|value| !value.eq_ignore_ascii_case(same)) {
                self.warn(format!("`{key}` has no effect while the connector writes exactly once: {why}"));
            }
        }
    }

    /// Keys that only say something about transactions, where there are none.
    fn without_effect(&mut self, properties: &BTreeMap<String, String>, worker: &ExactlyOnceWorker) {
        let key = own_keys::EXACTLY_ONCE_SOURCE_SUPPORT;
        let way_out = match worker {
            ExactlyOnceWorker::Development => "`connect dev` has no transactions".to_owned(),
            _ => format!("the connector does not write exactly once; `{key}=enabled` makes it"),
        };
        for name in [BOUNDARY, BOUNDARY_INTERVAL, TRANSACTIONAL_ID].into_iter().chain(BOUNDARY_MAXIMA) {
            if text(properties, name).is_some() {
                self.warn(format!("`{name}` has no effect: {way_out}"));
            }
        }
    }
}

/// The value of a key, without blanks around it; none if nothing is left.
fn text<'a>(properties: &'a BTreeMap<String, String>, key: &str) -> Option<&'a str> {
    properties.get(key).map(|value| value.trim()).filter(|value| !value.is_empty())
}

fn is(properties: &BTreeMap<String, String>, key: &str, value: &str) -> bool {
    text(properties, key).is_some_and(|found| found.eq_ignore_ascii_case(value))
}

#[cfg(test)]
mod tests;
