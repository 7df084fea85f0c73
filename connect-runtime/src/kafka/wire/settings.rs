//! What a connection needs to know, taken from a client's configuration: where to begin, who it says it is, how long it
//! waits, and how it is secured.

use std::{fmt, time::Duration};

use super::{sasl::Login, tls::Tls};
use crate::kafka::{ClientConfig, ErrorClass, KafkaError};

/// Java's `request.timeout.ms`.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Java's `socket.connection.setup.timeout.ms`.
const SETUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Java's `retry.backoff.ms` and `retry.backoff.max.ms`.
const RETRY_BACKOFF: Duration = Duration::from_millis(100);
const RETRY_BACKOFF_MAX: Duration = Duration::from_secs(1);
const PORT_DEFAULT: u16 = 9092;

/// Where a broker listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Address {
    /// Reads `host:port`, `[::1]:port` or a bare host, with or without the name of a protocol before it.
    fn parse(text: &str) -> Option<Self> {
        let text = text.rsplit_once("://").map_or(text, |(_, rest)| rest);
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port.parse().ok()?),
            _ => (text, PORT_DEFAULT),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        (!host.is_empty()).then(|| Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// The settings of one cluster's connections.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) bootstrap: Vec<Address>,
    pub(super) client_id: String,
    /// How long an answer may take.
    pub(super) request_timeout: Duration,
    /// How long connection, handshakes and login may take together.
    pub(super) setup_timeout: Duration,
    pub(super) retry_backoff: Duration,
    pub(super) retry_backoff_max: Duration,
    pub(super) tls: Option<Tls>,
    pub(super) login: Option<Login>,
}

impl Settings {
    /// Takes the settings out of a configuration that has been checked, and reads the stores that it names.
    ///
    /// # Errors
    /// Fatal: a store cannot be used, or this client lacks a mechanism or setting that the configuration asks for; the
    /// text names the key.
    pub(super) fn new(config: &ClientConfig) -> Result<Self, KafkaError> {
        let entry = |key: &str| config.entries.get(key).map(String::as_str);
        let ms = |key: &str, default: Duration| {
            entry(key).and_then(|text| text.parse().ok()).map_or(default, Duration::from_millis)
        };
        let mut bootstrap = Vec::new();
        for server in config.bootstrap_servers().split(',').map(str::trim).filter(|server| !server.is_empty()) {
            let address = Address::parse(server).ok_or_else(|| {
                KafkaError::new(
                    ErrorClass::Fatal,
                    format!("value of `bootstrap.servers` has `{server}`; it must name brokers as `host:port`"),
                )
            })?;
            bootstrap.push(address);
        }
        let protocol = entry("security.protocol").unwrap_or("plaintext");
        let retry_backoff = ms("retry.backoff.ms", RETRY_BACKOFF);
        Ok(Self {
            bootstrap,
            client_id: config.client_id().to_owned(),
            request_timeout: ms("socket.timeout.ms", REQUEST_TIMEOUT),
            setup_timeout: ms("socket.connection.setup.timeout.ms", SETUP_TIMEOUT),
            retry_backoff,
            retry_backoff_max: ms("retry.backoff.max.ms", RETRY_BACKOFF_MAX).max(retry_backoff),
            tls: protocol.ends_with("ssl").then(|| Tls::new(&config.entries)).transpose()?,
            login: protocol.starts_with("sasl").then(|| Login::new(config)).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_operators_write_them() {
        for (text, want) in [
            ("kafka-1:19092", Some("kafka-1:19092")),
            ("kafka-1", Some("kafka-1:9092")),
            ("127.0.0.1:1", Some("127.0.0.1:1")),
            ("[::1]:19092", Some("[::1]:19092")),
            ("::1", Some("[::1]:9092")),
            ("SASL_SSL://kafka-1:19092", Some("kafka-1:19092")),
            ("kafka-1:port", None),
            ("kafka-1:70000", None),
            (":9092", None),
        ] {
            let address = Address::parse(text);
            assert_eq!(address.map(|address| address.to_string()).as_deref(), want, "{text}");
        }
    }
}
