//! `TimestampRouter`: makes a topic's name of the topic and the record's timestamp.

use super::settings::wrong;
use connect_sdk::config::{ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, Text};
use connect_sdk::java::date_format::DatePattern;
use connect_sdk::transform::{ConnectRecord, Transformation};
use connect_sdk::transformation;

const TIMESTAMP_FORMAT: &str = "timestamp.format";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct TimestampRouterConfig {
    /// The new name; `${topic}` and `${timestamp}` stand for the topic and the timestamp.
    #[config(default = "${topic}-${timestamp}", importance = high)]
    topic_format: Text,
    /// How the timestamp is written: a pattern of java.text.SimpleDateFormat, in UTC.
    #[config(default = "yyyyMMdd", importance = high)]
    timestamp_format: Text,
}

/// `org.apache.kafka.connect.transforms.TimestampRouter`.
#[derive(Debug)]
pub(super) struct TimestampRouter {
    topic_format: Text,
    pattern: DatePattern,
    /// The last topic, what its timestamp was written as, and the name that came out: topics and days repeat.
    last: Option<(Text, String, Text)>,
    /// The text of a timestamp.
    timestamp: String,
}

/// Makes a topic's name of the topic and the record's timestamp.
#[transformation(java = "org.apache.kafka.connect.transforms.TimestampRouter", version = "4.3.1")]
impl Transformation for TimestampRouter {
    type Config = TimestampRouterConfig;

    fn new(config: TimestampRouterConfig) -> Result<Self, ConfigErrors> {
        let format = &config.timestamp_format;
        let pattern = DatePattern::new(format).map_err(|error| {
            wrong(TIMESTAMP_FORMAT, format!("Invalid value {format} for configuration {TIMESTAMP_FORMAT}: {error}"))
        })?;
        Ok(Self { topic_format: config.topic_format, pattern, last: None, timestamp: String::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let Some(at) = record.timestamp else {
            return Err(DataError::new("Timestamp missing on record"));
        };
        self.timestamp.clear();
        self.pattern.write(at, &mut self.timestamp);
        let known = self.last.as_ref().filter(|(topic, text, _)| *topic == record.topic && *text == self.timestamp);
        let name = if let Some((_, _, name)) = known {
            name.clone()
        } else {
            // In this order, as in Kafka.
            let name = self.topic_format.replace("${topic}", &record.topic).replace("${timestamp}", &self.timestamp);
            let name = Text::from(name);
            self.last = Some((record.topic, self.timestamp.clone(), name.clone()));
            name
        };
        record.topic = name;
        Ok(Some(record))
    }
}
