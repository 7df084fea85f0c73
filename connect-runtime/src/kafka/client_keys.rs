//! The table of Kafka's client keys: which clients know them, which values they take, what librdkafka calls them.

use connect_sdk::{
    config::{ConfigDef, ConfigKey, ConfigType, Importance, Validator},
    nearest,
};

use crate::config::ClientKind;

fn bit(kind: ClientKind) -> u8 {
    match kind {
        ClientKind::Producer => P,
        ClientKind::Consumer => C,
        ClientKind::Admin => A,
    }
}

/// The values that a key takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Bool,
    /// A whole number between two limits, with its unit.
    Int(i64, i64, &'static str),
    /// One of these words, in any case.
    Choice(&'static [&'static str]),
    Text,
    /// Text that is never shown.
    Secret,
}

/// What becomes of a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// librdkafka has it under the same name.
    Same,
    /// librdkafka has it under another name.
    As(&'static str),
    /// Translated by code, together with others.
    Own,
    /// Has no effect here, and why.
    Ignored(&'static str),
}

/// One key.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) key: &'static str,
    clients: u8,
    pub(super) kind: Kind,
    pub(super) target: Target,
}

impl Row {
    pub(super) fn is_for(&self, kind: ClientKind) -> bool {
        self.clients & bit(kind) != 0
    }
}

use Kind::{Bool, Choice, Int, Secret, Text};
use Target::{As, Ignored, Own, Same};

const P: u8 = 1;
const C: u8 = 2;
const A: u8 = 4;
const ALL: u8 = P | C | A;
const MAX: i64 = i32::MAX as i64;

const JVM: Target = Ignored("it is for a Java client");
const NO_SUCH_FEATURE: Target = Ignored("the client library has no such setting");

const fn row(key: &'static str, clients: u8, kind: Kind, target: Target) -> Row {
    Row { key, clients, kind, target }
}

/// Every key of Kafka's own producers, consumers and admin clients.
#[rustfmt::skip]
static ROWS: &[Row] = &[
    row("bootstrap.servers", ALL, Text, Own),
    row("client.id", ALL, Text, Same),
    row("client.rack", ALL, Text, Same),
    row("client.dns.lookup", ALL, Choice(&["use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"]), Same),
    row("connections.max.idle.ms", ALL, Int(-1, MAX, "ms"), Own),
    row("metadata.max.age.ms", ALL, Int(0, i64::MAX, "ms"), Own),
    row("metadata.recovery.strategy", ALL, Choice(&["none", "rebootstrap"]), Same),
    row("metadata.recovery.rebootstrap.trigger.ms", ALL, Int(0, MAX, "ms"), Same),
    row("metadata.max.idle.ms", P, Int(0, i64::MAX, "ms"), NO_SUCH_FEATURE),
    row("metadata.cluster.check.enable", ALL, Bool, NO_SUCH_FEATURE),
    row("reconnect.backoff.ms", ALL, Int(0, 3_600_000, "ms"), Same),
    row("reconnect.backoff.max.ms", ALL, Int(0, 3_600_000, "ms"), Same),
    row("retry.backoff.ms", ALL, Int(0, 300_000, "ms"), Own),
    row("retry.backoff.max.ms", ALL, Int(0, 300_000, "ms"), Own),
    row("request.timeout.ms", ALL, Int(1, 900_000, "ms"), Own),
    row("default.api.timeout.ms", C | A, Int(0, MAX, "ms"), NO_SUCH_FEATURE),
    row("send.buffer.bytes", ALL, Int(-1, 100_000_000, "bytes"), Own),
    row("receive.buffer.bytes", ALL, Int(-1, 100_000_000, "bytes"), Own),
    row("socket.connection.setup.timeout.ms", ALL, Int(1000, MAX, "ms"), Same),
    row("socket.connection.setup.timeout.max.ms", ALL, Int(0, i64::MAX, "ms"), NO_SUCH_FEATURE),
    row("enable.metrics.push", ALL, Bool, Same),
    row("retries", P | A, Int(0, MAX, "retries"), Own),
    row("bootstrap.controllers", A, Text, NO_SUCH_FEATURE),
    row("metric.reporters", ALL, Text, JVM),
    row("metrics.num.samples", ALL, Text, JVM),
    row("metrics.recording.level", ALL, Text, JVM),
    row("metrics.sample.window.ms", ALL, Text, JVM),
    row("auto.include.jmx.reporter", ALL, Text, JVM),
    row("interceptor.classes", P | C, Text, JVM),
    row("security.providers", ALL, Text, JVM),
    row("config.providers", ALL, Text, Ignored("references are resolved before the client sees them")),
    row("key.serializer", P, Text, Ignored("converters write the bytes")),
    row("value.serializer", P, Text, Ignored("converters write the bytes")),
    row("key.deserializer", C, Text, Ignored("converters read the bytes")),
    row("value.deserializer", C, Text, Ignored("converters read the bytes")),
    // Security: translated in `client_security`.
    row("security.protocol", ALL, Choice(&["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]), Own),
    row("sasl.mechanism", ALL, Text, Own),
    row("sasl.jaas.config", ALL, Secret, Own),
    row("sasl.kerberos.service.name", ALL, Text, Same),
    row("sasl.kerberos.min.time.before.relogin", ALL, Int(0, 86_400_000, "ms"), Same),
    row("sasl.kerberos.kinit.cmd", ALL, Text, Same),
    row("sasl.kerberos.ticket.renew.jitter", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.kerberos.ticket.renew.window.factor", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.oauthbearer.token.endpoint.url", ALL, Text, Own),
    row("sasl.oauthbearer.scope", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.login.callback.handler.class", ALL, Text, JVM),
    row("sasl.client.callback.handler.class", ALL, Text, JVM),
    row("sasl.login.class", ALL, Text, JVM),
    row("sasl.login.connect.timeout.ms", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.login.read.timeout.ms", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.login.retry.backoff.ms", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.login.retry.backoff.max.ms", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.login.refresh.buffer.seconds", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.login.refresh.min.period.seconds", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.login.refresh.window.factor", ALL, Text, NO_SUCH_FEATURE),
    row("sasl.login.refresh.window.jitter", ALL, Text, NO_SUCH_FEATURE),
    row("ssl.truststore.location", ALL, Text, Own),
    row("ssl.truststore.password", ALL, Secret, Own),
    row("ssl.truststore.type", ALL, Text, Own),
    row("ssl.truststore.certificates", ALL, Secret, Own),
    row("ssl.keystore.location", ALL, Text, Own),
    row("ssl.keystore.password", ALL, Secret, Own),
    row("ssl.keystore.type", ALL, Text, Own),
    row("ssl.keystore.key", ALL, Secret, Own),
    row("ssl.keystore.certificate.chain", ALL, Secret, Own),
    row("ssl.key.password", ALL, Secret, Own),
    row("ssl.endpoint.identification.algorithm", ALL, Choice(&["https", "none", ""]), Own),
    row("ssl.cipher.suites", ALL, Text, Ignored("Java's names of cipher suites are not OpenSSL's")),
    row("ssl.enabled.protocols", ALL, Text, JVM),
    row("ssl.protocol", ALL, Text, JVM),
    row("ssl.provider", ALL, Text, JVM),
    row("ssl.keymanager.algorithm", ALL, Text, JVM),
    row("ssl.trustmanager.algorithm", ALL, Text, JVM),
    row("ssl.secure.random.implementation", ALL, Text, JVM),
    row("ssl.engine.factory.class", ALL, Text, JVM),
    // Producers.
    row("acks", P, Choice(&["all", "-1", "0", "1"]), Own),
    row("enable.idempotence", P, Bool, Own),
    row("max.in.flight.requests.per.connection", P, Int(1, 1_000_000, "requests"), Own),
    row("batch.size", P, Int(0, MAX, "bytes"), Own),
    row("linger.ms", P, Int(0, 900_000, "ms"), Same),
    row("buffer.memory", P, Int(0, i64::MAX, "bytes"), Own),
    row("compression.type", P, Choice(&["none", "gzip", "snappy", "lz4", "zstd"]), Same),
    row("compression.gzip.level", P, Int(-1, 9, "level"), Own),
    row("compression.lz4.level", P, Int(1, 17, "level"), Own),
    row("compression.zstd.level", P, Int(-131_072, 22, "level"), Own),
    row("delivery.timeout.ms", P, Int(0, MAX, "ms"), Own),
    row("max.block.ms", P, Int(0, i64::MAX, "ms"), Ignored("a task waits for as long as the producer's buffer is full")),
    row("max.request.size", P, Int(0, MAX, "bytes"), Own),
    row("partitioner.class", P, Text, Ignored("records go where Java's default partitioner sends them")),
    row("partitioner.ignore.keys", P, Bool, NO_SUCH_FEATURE),
    row("partitioner.adaptive.partitioning.enable", P, Bool, NO_SUCH_FEATURE),
    row("partitioner.availability.timeout.ms", P, Int(0, i64::MAX, "ms"), NO_SUCH_FEATURE),
    row("transactional.id", P, Text, Same),
    row("transaction.timeout.ms", P, Int(1000, MAX, "ms"), Same),
    row("transaction.two.phase.commit.enable", P, Bool, NO_SUCH_FEATURE),
    // Consumers.
    row("group.id", C, Text, Same),
    row("group.instance.id", C, Text, Same),
    row("group.protocol", C, Choice(&["classic", "consumer"]), Same),
    row("group.remote.assignor", C, Text, Same),
    row("auto.offset.reset", C, Text, Own),
    row("enable.auto.commit", C, Bool, Ignored("offsets are committed when the sink says so")),
    row("auto.commit.interval.ms", C, Int(0, MAX, "ms"), Ignored("offsets are committed when the sink says so")),
    row("session.timeout.ms", C, Int(1, 3_600_000, "ms"), Same),
    row("heartbeat.interval.ms", C, Int(1, 3_600_000, "ms"), Same),
    row("max.poll.interval.ms", C, Int(1, 86_400_000, "ms"), Same),
    row("max.poll.records", C, Int(1, MAX, "records"), Own),
    row("fetch.min.bytes", C, Int(0, 100_000_000, "bytes"), Own),
    row("fetch.max.bytes", C, Int(0, MAX, "bytes"), Own),
    row("fetch.max.wait.ms", C, Int(0, 300_000, "ms"), As("fetch.wait.max.ms")),
    row("max.partition.fetch.bytes", C, Int(0, 1_000_000_000, "bytes"), Own),
    row("check.crcs", C, Bool, Same),
    row("isolation.level", C, Choice(&["read_uncommitted", "read_committed"]), Same),
    row("partition.assignment.strategy", C, Text, Own),
    row("exclude.internal.topics", C, Bool, Own),
    row("allow.auto.create.topics", C, Bool, Same),
];

/// The key's row, if a client of this kind knows it.
pub(super) fn find(key: &str, kind: ClientKind) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.key == key && row.is_for(kind))
}

/// The known key that is written most like `key`, if one is close.
pub(super) fn nearest(key: &str, kind: ClientKind) -> Option<&'static str> {
    nearest::nearest(key, of(kind).map(|row| row.key))
}

fn of(kind: ClientKind) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| row.is_for(kind))
}

/// The keys that clients of a kind have, without their prefix (`producer.`, `producer.override.` and so on), for
/// validation and documentation. What each means is told by Kafka's documentation of its clients; here it says what becomes
/// of it.
#[must_use]
pub fn client_config_def(kind: ClientKind) -> ConfigDef {
    of(kind).map(Row::definition).fold(ConfigDef::new(), ConfigDef::define)
}

impl Row {
    fn definition(&self) -> ConfigKey {
        let (config_type, unit) = match self.kind {
            Bool => (ConfigType::Boolean, None),
            Int(_, _, unit) => (ConfigType::Long, Some(unit)),
            Choice(_) | Text => (ConfigType::String, None),
            Secret => (ConfigType::Password, None),
        };
        let becomes = match self.target {
            Same => "The client library's key of this name.".to_owned(),
            As(name) => format!("The client library's `{name}`."),
            Own => "Translated for the client library together with other keys.".to_owned(),
            Ignored(why) => format!("Without effect: {why}."),
        };
        let doc = unit.map_or_else(|| becomes.clone(), |unit| format!("In {unit}. {becomes}"));
        let key = ConfigKey::new(self.key, config_type).null_default().importance(Importance::Medium).doc(doc);
        match self.kind {
            Int(min, i64::MAX, _) => key.validator(Validator::at_least(min).or_null()),
            Int(min, max, _) => key.validator(Validator::between(min, max).or_null()),
            Choice(words) => {
                let words = words.iter().copied().filter(|word| !word.is_empty());
                key.validator(Validator::case_insensitive_valid_string(words).or_null())
            }
            Bool | Text | Secret => key,
        }
    }
}

/// Reads a value as its key wants it; answers the form that librdkafka reads.
///
/// # Errors
/// What is allowed, to stand behind "it must be".
pub(super) fn read(kind: Kind, value: &str) -> Result<String, String> {
    let value = value.trim();
    match kind {
        Bool => match value.to_ascii_lowercase().as_str() {
            word @ ("true" | "false") => Ok(word.to_owned()),
            _ => Err("`true` or `false`".to_owned()),
        },
        Int(min, max, unit) => {
            let limits = match (min, max) {
                (min, i64::MAX) => format!("a whole number, at least {min} ({unit})"),
                (min, max) => format!("a whole number between {min} and {max} ({unit})"),
            };
            match value.parse::<i64>() {
                Ok(number) if (min..=max).contains(&number) => Ok(number.to_string()),
                _ => Err(limits),
            }
        }
        Choice(words) => {
            let lower = value.to_ascii_lowercase();
            if words.contains(&lower.as_str()) {
                return Ok(lower);
            }
            let words: Vec<String> =
                words.iter().filter(|word| !word.is_empty()).map(|word| format!("`{word}`")).collect();
            Err(format!("one of {}", words.join(", ")))
        }
        Text | Secret => Ok(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_one_row_for_each_kind_of_client() {
        for (i, row) in ROWS.iter().enumerate() {
            let clash = ROWS[i + 1..].iter().find(|other| other.key == row.key && other.clients & row.clients != 0);
            assert!(clash.is_none(), "`{}` is there twice", row.key);
        }
    }

    #[test]
    fn a_slip_of_the_pen_finds_the_key_that_was_meant() {
        let near = |key| nearest(key, ClientKind::Producer);
        assert_eq!(near("linger.mz"), Some("linger.ms"));
        assert_eq!(near("bacth.size"), Some("batch.size"));
        assert_eq!(near("compresion.type"), Some("compression.type"));
        assert_eq!(near("fetch.min.bytes"), None, "a consumer's key is not a producer's");
        assert_eq!(near("something.else.entirely"), None);
    }

    #[test]
    fn values_are_checked_against_their_limits() {
        assert_eq!(read(Bool, " TRUE "), Ok("true".to_owned()));
        assert!(read(Bool, "yes").is_err());
        assert_eq!(read(Int(0, 10, "ms"), "10"), Ok("10".to_owned()));
        assert_eq!(read(Int(0, 10, "ms"), "11"), Err("a whole number between 0 and 10 (ms)".to_owned()));
        assert_eq!(read(Int(0, i64::MAX, "ms"), "-1"), Err("a whole number, at least 0 (ms)".to_owned()));
        assert_eq!(read(Choice(&["ssl", ""]), "SSL"), Ok("ssl".to_owned()));
        assert_eq!(read(Choice(&["ssl", ""]), "tls"), Err("one of `ssl`".to_owned()));
    }
}
