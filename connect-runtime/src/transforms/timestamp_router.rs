//! `TimestampRouter`: makes a topic's name of the topic and the record's timestamp.

use super::settings::{key, text, wrong};
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance};
use connect_sdk::data::{DataError, Text};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::java::date_format::DatePattern;
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const TOPIC_FORMAT: &str = "topic.format";
const TIMESTAMP_FORMAT: &str = "timestamp.format";

pub(super) const CLASS: TransformationClass = TransformationClass {
    class: "org.apache.kafka.connect.transforms.TimestampRouter",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def,
    make: |properties| Ok(Box::new(TimestampRouter::new(properties)?)),
};

/// `org.apache.kafka.connect.transforms.TimestampRouter`.
#[derive(Debug)]
struct TimestampRouter {
    topic_format: Text,
    pattern: DatePattern,
    /// The last topic, what its timestamp was written as, and the name that came out: topics and days repeat.
    last: Option<(Text, String, Text)>,
    /// The text of a timestamp.
    timestamp: String,
}

fn config_def() -> ConfigDef {
    let topic = "The new name; `${topic}` and `${timestamp}` stand for the topic and the timestamp.";
    let timestamp = "How the timestamp is written: a pattern of java.text.SimpleDateFormat, in UTC.";
    ConfigDef::new()
        .define(key(TOPIC_FORMAT, ConfigType::String, Importance::High, topic).default("${topic}-${timestamp}"))
        .define(key(TIMESTAMP_FORMAT, ConfigType::String, Importance::High, timestamp).default("yyyyMMdd"))
}

impl TimestampRouter {
    fn new(properties: &Properties) -> Result<Self, ConfigErrors> {
        let config = config_def().parse(properties)?;
        let format = config.string(TIMESTAMP_FORMAT).unwrap_or_default();
        let pattern = DatePattern::new(format).map_err(|error| {
            wrong(TIMESTAMP_FORMAT, format!("Invalid value {format} for configuration {TIMESTAMP_FORMAT}: {error}"))
        })?;
        let topic_format = text(&config, TOPIC_FORMAT);
        Ok(Self { topic_format, pattern, last: None, timestamp: String::new() })
    }
}

impl DynTransformation for TimestampRouter {
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
