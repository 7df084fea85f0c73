//! `TopicNameMatches`: records whose topic matches a regular expression as a whole.

use crate::transforms::topic_cache::TopicCache;
use connect_sdk::config::{ConfigErrors, ConnectorConfig, Validator};
use connect_sdk::data::DataError;
use connect_sdk::java::regex::JavaRegex;
use connect_sdk::predicate;
use connect_sdk::transform::{ConnectRecord, Predicate};

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = predicate)]
pub(super) struct TopicNameMatchesConfig {
    /// A Java regular expression that must match the whole name of the topic.
    #[config(validator = Validator::non_empty_string())]
    pattern: JavaRegex,
}

/// `org.apache.kafka.connect.transforms.predicates.TopicNameMatches`.
#[derive(Debug)]
pub(super) struct TopicNameMatches {
    regex: JavaRegex,
    known: TopicCache<bool>,
}

/// Records whose topic matches a regular expression as a whole.
#[predicate(java = "org.apache.kafka.connect.transforms.predicates.TopicNameMatches", version = "4.3.1")]
impl Predicate for TopicNameMatches {
    type Config = TopicNameMatchesConfig;

    fn new(config: TopicNameMatchesConfig) -> Result<Self, ConfigErrors> {
        Ok(Self { regex: config.pattern, known: TopicCache::new() })
    }

    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError> {
        let regex = &self.regex;
        self.known
            .get_or_make(&record.topic, |topic| regex.matches(topic).map_err(|error| DataError::new(error.to_string())))
    }
}
