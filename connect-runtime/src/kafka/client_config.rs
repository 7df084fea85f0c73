//! Configurations of Kafka clients: Java's keys, in layers, turned into librdkafka's. A wrong value is an error that names
//! the key with its prefix; an unknown key is a warning. Secrets stay out of every text.

use std::{collections::BTreeMap, fmt, time::Duration};

use connect_sdk::config::{ConfigError, ConfigErrors};
use rdkafka::{config::ClientConfig as NativeConfig, error::KafkaError as NativeError, types::RDKafkaConfRes};

use crate::config::ClientDefaults;

use super::{
    client_keys::{self, ClientKind, Kind, Target, distance},
    client_security,
    oauth::OauthSource,
};

/// Records of one consumer poll where nothing is set, as in Java.
const MAX_POLL_RECORDS_JAVA: usize = 500;
/// Records of one consumer poll where nothing is set: a larger batch costs less per record.
const MAX_POLL_RECORDS_TUNED: usize = 4000;
/// Java's `max.request.size`.
const MAX_REQUEST_SIZE: i64 = 1_048_576;
/// Java's `buffer.memory`, in KiB.
const BUFFER_KIB_JAVA: i64 = 32 * 1024;
/// Room for some requests of several partitions at full speed, in KiB.
const BUFFER_KIB_TUNED: i64 = 64 * 1024;
/// Records in a producer: its memory is the limit, not their number.
const BUFFER_RECORDS: i64 = 10_000_000;
/// What a consumer keeps fetched ahead of its task, in KiB.
const FETCHED_KIB: i64 = 32 * 1024;
/// librdkafka's smallest limit for a message.
const MESSAGE_BYTES_MIN: i64 = 1000;
/// How much larger than a fetch librdkafka wants its limit for an answer.
const ANSWER_OVERHEAD: i64 = 512;
const ANSWER_BYTES_DEFAULT: i64 = 100_000_000;
/// `transaction.timeout.ms` where it is not set, as in Java.
const TRANSACTION_TIMEOUT_MS: i64 = 60_000;
/// That of a producer which only fences: below every broker's `transaction.max.timeout.ms`, and long enough for a request.
const FENCING_TRANSACTION_TIMEOUT_MS: i64 = 10_000;
/// Requests in flight with which an idempotent producer keeps the order.
const IN_FLIGHT_IDEMPOTENT_MAX: i64 = 5;

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

/// One value that was set, and the key that the operator wrote.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) value: String,
    pub(super) written: String,
}

/// Puts a client's configuration together: later layers win.
pub struct ClientConfigBuilder {
    kind: ClientKind,
    defaults: ClientDefaults,
    transactional_id: Option<String>,
    instance_id: Option<String>,
    entries: BTreeMap<String, Given>,
    warnings: Vec<String>,
    errors: ConfigErrors,
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

    fn common(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        match read.text("bootstrap.servers").map(|text| text.replace(char::is_whitespace, "")) {
            Some(servers) if !servers.is_empty() => put(out, "bootstrap.servers", servers),
            _ => {
                let written = read.written("bootstrap.servers");
                self.errors.push(ConfigError::on(
                    written,
                    format!("`{written}` is not set; it must name one or more brokers as `host:port`"),
                ));
            }
        }
        if let Some(ms) = read.int("connections.max.idle.ms") {
            // Java's word for "never" is -1, librdkafka's is 0.
            put(out, "connections.max.idle.ms", ms.max(0));
        }
        if let Some(ms) = read.int("metadata.max.age.ms") {
            put(out, "topic.metadata.refresh.interval.ms", ms.clamp(1, 3_600_000));
        }
        for (key, native) in
            [("send.buffer.bytes", "socket.send.buffer.bytes"), ("receive.buffer.bytes", "socket.receive.buffer.bytes")]
        {
            if let Some(bytes) = read.int(key) {
                put(out, native, bytes.max(0));
            }
        }
        for key in ["retry.backoff.ms", "retry.backoff.max.ms"] {
            if let Some(ms) = read.int(key) {
                put(out, key, ms.max(1));
            }
        }
        if let Some(ms) = read.int("request.timeout.ms") {
            if self.kind == ClientKind::Producer {
                put(out, "request.timeout.ms", ms);
            } else {
                put(out, "socket.timeout.ms", ms.clamp(10, 300_000));
            }
        }
        // librdkafka's own default of 10 s keeps a client away for seconds after a broker is back.
        if read.text("reconnect.backoff.max.ms").is_none() {
            let least = read.int("reconnect.backoff.ms").unwrap_or(0);
            let ms = if self.defaults == ClientDefaults::Tuned { 500 } else { 1000 };
            put(out, "reconnect.backoff.max.ms", ms.max(least));
        }
    }

    fn producer(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        let tuned = self.defaults == ClientDefaults::Tuned;
        self.idempotence(read, out);
        put(out, "acks", read.text("acks").unwrap_or("all"));
        put(out, "partitioner", "murmur2_random");
        put(out, "batch.size", read.int("batch.size").unwrap_or(if tuned { 1_000_000 } else { 16_384 }).max(1));
        if read.text("linger.ms").is_none() {
            put(out, "linger.ms", 5);
        }
        let buffer =
            read.int("buffer.memory").map_or(if tuned { BUFFER_KIB_TUNED } else { BUFFER_KIB_JAVA }, |bytes| {
                (bytes / 1024).clamp(1, i64::from(i32::MAX))
            });
        let native_buffer = read.int("queue.buffering.max.kbytes");
        put(out, "queue.buffering.max.kbytes", native_buffer.unwrap_or(buffer));
        put(out, "queue.buffering.max.messages", read.int("queue.buffering.max.messages").unwrap_or(BUFFER_RECORDS));
        let limit = read.int("max.request.size").or(read.int("message.max.bytes")).unwrap_or(MAX_REQUEST_SIZE);
        put(out, "message.max.bytes", limit.clamp(MESSAGE_BYTES_MIN, 1_000_000_000));
        // librdkafka's own upper limit of records in a batch would cut batches of small records short.
        if read.text("batch.num.messages").is_none() {
            put(out, "batch.num.messages", 100_000);
        }
        if let Some(level) =
            read.text("compression.type").and_then(|codec| read.int(&format!("compression.{codec}.level")))
        {
            put(out, "compression.level", level.clamp(-1, 12));
        }
        // A transactional producer's time-out follows its transaction's; others try for ever, as Connect does.
        if read.text("transactional.id").is_none() {
            let timeout = read.int("delivery.timeout.ms").unwrap_or(i64::from(i32::MAX));
            put(out, "message.timeout.ms", if timeout == i64::from(i32::MAX) { 0 } else { timeout });
        }
    }

    /// Idempotence, requests in flight and retries hang together.
    fn idempotence(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        let tuned = self.defaults == ClientDefaults::Tuned;
        let transactional = read.text("transactional.id").is_some();
        let in_flight = read.int("max.in.flight.requests.per.connection");
        let mut conflicts = Vec::new();
        if let Some(acks) = read.text("acks").filter(|acks| !matches!(*acks, "all" | "-1")) {
            conflicts.push(("acks", acks.to_owned(), "`all`"));
        }
        if let Some(n) = in_flight.filter(|n| *n > IN_FLIGHT_IDEMPOTENT_MAX) {
            conflicts.push(("max.in.flight.requests.per.connection", n.to_string(), "at most 5"));
        }
        if read.int("retries") == Some(0) {
            conflicts.push(("retries", "0".to_owned(), "above 0"));
        }
        let asked = read.bool("enable.idempotence");
        let idempotent = match asked {
            Some(true) => true,
            None if transactional => true,
            Some(false) if transactional => {
                let written = read.written("enable.idempotence");
                self.errors.push(ConfigError::on(
                    written,
                    format!("value of `{written}` is `false`; it must be `true` for a transactional producer"),
                ));
                true
            }
            Some(false) => false,
            // As Java: idempotence by default gives way to settings that exclude it.
            None => tuned && conflicts.is_empty(),
        };
        if idempotent {
            for (key, value, allowed) in conflicts {
                let written = read.written(key);
                self.errors.push(ConfigError::on(
                    written,
                    format!("value of `{written}` is `{value}`; it must be {allowed} with `enable.idempotence=true`"),
                ));
            }
        }
        put(out, "enable.idempotence", idempotent);
        let in_flight = in_flight.unwrap_or(if tuned && idempotent { IN_FLIGHT_IDEMPOTENT_MAX } else { 1 });
        put(out, "max.in.flight.requests.per.connection", in_flight);
        if let Some(n) = read.int("retries") {
            put(out, "retries", if idempotent { n.max(1) } else { n });
        }
    }

    fn consumer(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        put(out, "enable.auto.commit", false);
        put(out, "enable.auto.offset.store", false);
        if read.text("isolation.level").is_none() {
            put(out, "isolation.level", "read_uncommitted");
        }
        if read.text("check.crcs").is_none() {
            put(out, "check.crcs", true);
        }
        // Each time a partition's local queue is full librdkafka leaves it alone for this long; its default is 1 s.
        if read.text("fetch.queue.backoff.ms").is_none() {
            put(out, "fetch.queue.backoff.ms", 10);
        }
        if read.text("queued.max.messages.kbytes").is_none() {
            put(out, "queued.max.messages.kbytes", FETCHED_KIB);
        }
        self.offset_reset(read, out);
        self.assignment_strategy(read, out);
        if let Some(id) = self.instance_id.take()
            && read.text("group.instance.id").is_none()
            && read.text("group.protocol") != Some("consumer")
        {
            put(out, "group.instance.id", id);
        }
        if let Some(bytes) = read.int("fetch.min.bytes") {
            put(out, "fetch.min.bytes", bytes.max(1));
        }
        if let Some(bytes) = read.int("max.partition.fetch.bytes") {
            put(out, "max.partition.fetch.bytes", bytes.max(1));
        }
        // librdkafka wants message.max.bytes <= fetch.max.bytes <= receive.message.max.bytes - 512.
        if let Some(bytes) = read.int("fetch.max.bytes") {
            let bytes = bytes.clamp(MESSAGE_BYTES_MIN, i64::from(i32::MAX) - ANSWER_OVERHEAD);
            put(out, "fetch.max.bytes", bytes);
            if bytes < 1_000_000 {
                put(out, "message.max.bytes", bytes);
            }
            put(out, "receive.message.max.bytes", ANSWER_BYTES_DEFAULT.max(bytes + ANSWER_OVERHEAD));
        }
    }

    fn offset_reset(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        let reset = read.text("auto.offset.reset").unwrap_or("earliest").to_ascii_lowercase();
        let native = match reset.as_str() {
            "earliest" | "latest" => reset.as_str(),
            "none" | "error" => "error",
            _ => {
                let written = read.written("auto.offset.reset");
                self.errors.push(ConfigError::on(
                    written,
                    format!("value of `{written}` is `{reset}`; it must be one of `earliest`, `latest`, `none`"),
                ));
                return;
            }
        };
        put(out, "auto.offset.reset", native);
    }

    /// Java names assignors by class. Eager and cooperative ones cannot be mixed here; Java's default pair, made for
    /// upgrades, means the cooperative one.
    fn assignment_strategy(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        if read.text("group.protocol") == Some("consumer") {
            return;
        }
        let Some(text) = read.text("partition.assignment.strategy") else {
            put(out, "partition.assignment.strategy", "cooperative-sticky");
            return;
        };
        let mut names = Vec::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name.rsplit('.').next().unwrap_or(name) {
                "RangeAssignor" | "range" => names.push("range"),
                "RoundRobinAssignor" | "roundrobin" => names.push("roundrobin"),
                "CooperativeStickyAssignor" | "cooperative-sticky" => names.push("cooperative-sticky"),
                other => {
                    let known = ["RangeAssignor", "RoundRobinAssignor", "CooperativeStickyAssignor"];
                    let near = known.iter().filter(|known| distance(known, other) <= 3).copied().next();
                    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    let written = read.written("partition.assignment.strategy");
                    self.errors.push(ConfigError::on(
                        written,
                        format!("`{written}` names `{name}`; it must name some of {}{near}", quoted(&known)),
                    ));
                }
            }
        }
        let strategy = if names.is_empty() || names.contains(&"cooperative-sticky") {
            "cooperative-sticky".to_owned()
        } else {
            names.join(",")
        };
        put(out, "partition.assignment.strategy", strategy);
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The entries that were read, by Kafka's key, in the form that librdkafka reads.
pub(super) struct Read {
    entries: BTreeMap<String, Given>,
}

impl Read {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|given| given.value.as_str())
    }

    pub(super) fn int(&self, key: &str) -> Option<i64> {
        self.text(key)?.trim().parse().ok()
    }

    pub(super) fn bool(&self, key: &str) -> Option<bool> {
        self.text(key).map(|text| text == "true")
    }

    /// The key as the operator wrote it, with its prefix.
    pub(super) fn written<'a>(&'a self, key: &'a str) -> &'a str {
        self.entries.get(key).map_or(key, |given| &given.written)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "numbers and literals are passed as they are")]
pub(super) fn put(out: &mut BTreeMap<String, String>, key: &str, value: impl ToString) {
    out.insert(key.to_owned(), value.to_string());
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

#[cfg(test)]
#[path = "client_config/tests.rs"]
mod tests;
