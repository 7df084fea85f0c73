//! Configurations of Kafka clients in librdkafka's keys, and what is read out of them. `builder` makes them of Java's keys.
//! Secrets stay out of every text.

mod builder;
mod kinds;

use std::{collections::BTreeMap, fmt, time::Duration};

use connect_sdk::config::ConfigErrors;

use crate::config::{ClientDefaults, ClientKind};

use super::oauth::OauthSource;

pub use builder::ClientConfigBuilder;
pub(super) use builder::Read;

/// Java's `max.request.size`.
const MAX_REQUEST_SIZE: i64 = 1_048_576;
/// `transaction.timeout.ms` where it is not set, as in Java.
const TRANSACTION_TIMEOUT_MS: i64 = 60_000;
/// That of a producer which only fences: below every broker's `transaction.max.timeout.ms`, and long enough for a request.
const FENCING_TRANSACTION_TIMEOUT_MS: i64 = 10_000;

/// The configuration of one client, ready for librdkafka. Equal configurations can share a client.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClientConfig {
    kind: ClientKind,
    pub(super) entries: BTreeMap<String, String>,
    pub(super) oauth: Option<OauthSource>,
    max_poll_records: usize,
    exclude_internal_topics: bool,
}

impl ClientConfig {
    /// Starts a configuration.
    #[must_use]
    pub fn builder(kind: ClientKind) -> ClientConfigBuilder {
        ClientConfigBuilder {
            kind,
            defaults: ClientDefaults::default(),
            transactional_id: None,
            instance_id: None,
            entries: BTreeMap::new(),
            warnings: Vec::new(),
            errors: ConfigErrors::new(),
        }
    }

    /// The kind of client that it is for.
    #[must_use]
    pub fn kind(&self) -> ClientKind {
        self.kind
    }

    /// The client's id.
    #[must_use]
    pub fn client_id(&self) -> &str {
        self.native("client.id").unwrap_or("rdkafka")
    }

    /// The brokers to begin with.
    #[must_use]
    pub fn bootstrap_servers(&self) -> &str {
        self.native("bootstrap.servers").unwrap_or_default()
    }

    /// The same configuration under another client id.
    #[must_use]
    pub fn with_client_id(&self, id: &str) -> Self {
        let mut config = self.clone();
        config.entries.insert("client.id".to_owned(), id.to_owned());
        config
    }

    /// The largest record that a producer takes, in bytes of key, value and headers.
    #[must_use]
    pub fn max_request_size(&self) -> usize {
        self.number("message.max.bytes", MAX_REQUEST_SIZE)
    }

    /// The most records of one consumer poll.
    #[must_use]
    pub fn max_poll_records(&self) -> usize {
        self.max_poll_records
    }

    /// How long a consumer's task may take between polls before the group gives its partitions to others.
    #[must_use]
    pub fn max_poll_interval(&self) -> Duration {
        Duration::from_millis(self.number("max.poll.interval.ms", 300_000) as u64)
    }

    /// How often topics are looked up again.
    #[must_use]
    pub fn metadata_max_age(&self) -> Duration {
        Duration::from_millis(self.number("topic.metadata.refresh.interval.ms", 300_000) as u64)
    }

    /// Whether Kafka's own topics are left out of a subscription by pattern.
    #[must_use]
    pub fn exclude_internal_topics(&self) -> bool {
        self.exclude_internal_topics
    }

    /// All settings in librdkafka's keys, in the order of the keys, without those that are secrets.
    ///
    /// For programs that measure against a client of the worker; the worker itself hands its settings to librdkafka whole.
    pub fn natives(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter(|(key, _)| !is_secret(key)).map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The id that makes a producer transactional.
    #[must_use]
    pub fn transactional_id(&self) -> Option<&str> {
        self.native("transactional.id")
    }

    /// How long a transaction may be open before the broker aborts it.
    #[must_use]
    pub fn transaction_timeout(&self) -> Duration {
        Duration::from_millis(self.number("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS) as u64)
    }

    /// The configuration of a producer that takes a transactional id and writes nothing, on the same brokers.
    pub(super) fn for_fencing(&self, id: &str) -> Self {
        let mut config = self.clone();
        config.kind = ClientKind::Producer;
        // What belongs to records, or must go with the time-out of a transaction.
        for key in ["message.timeout.ms", "socket.timeout.ms", "retries"] {
            config.entries.remove(key);
        }
        put(&mut config.entries, "transactional.id", id);
        put(&mut config.entries, "transaction.timeout.ms", FENCING_TRANSACTION_TIMEOUT_MS);
        put(&mut config.entries, "enable.idempotence", true);
        put(&mut config.entries, "acks", "all");
        put(&mut config.entries, "max.in.flight.requests.per.connection", 1);
        config
    }

    /// The value of one of librdkafka's keys, unless it is a secret.
    #[must_use]
    pub fn native(&self, key: &str) -> Option<&str> {
        if is_secret(key) { None } else { self.entries.get(key).map(String::as_str) }
    }

    fn number(&self, key: &str, default: i64) -> usize {
        let number = self.entries.get(key).and_then(|value| value.parse().ok()).unwrap_or(default);
        usize::try_from(number).unwrap_or(0)
    }
}

impl fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.entries.iter().map(|(key, value)| (key, if is_secret(key) { "[hidden]" } else { value }));
        f.debug_map().entries(shown).finish()
    }
}

/// Whether librdkafka's key holds a secret.
fn is_secret(key: &str) -> bool {
    ["password", "secret", "pem", "passphrase", "jaas", "oauthbearer.config"].iter().any(|word| key.contains(word))
}

#[expect(clippy::needless_pass_by_value, reason = "numbers and literals are passed as they are")]
pub(super) fn put(out: &mut BTreeMap<String, String>, key: &str, value: impl ToString) {
    out.insert(key.to_owned(), value.to_string());
}

#[cfg(test)]
#[path = "client_config/tests.rs"]
mod tests;
