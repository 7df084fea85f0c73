//! `TopicNameMatches`: records whose topic matches a regular expression as a whole.

use crate::transforms::settings::{key, valid_regex, wrong};
use crate::transforms::topic_cache::TopicCache;
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance, Validator};
use connect_sdk::data::DataError;
use connect_sdk::erased::{DynPredicate, Properties};
use connect_sdk::java::regex::JavaRegex;
use connect_sdk::transform::{ConnectRecord, PredicateClass};

const PATTERN: &str = "pattern";

pub(super) const CLASS: PredicateClass = PredicateClass {
    class: "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def,
    make: |properties| Ok(Box::new(TopicNameMatches::new(properties)?)),
};

/// `org.apache.kafka.connect.transforms.predicates.TopicNameMatches`.
#[derive(Debug)]
struct TopicNameMatches {
    regex: JavaRegex,
    known: TopicCache<bool>,
}

fn config_def() -> ConfigDef {
    let doc = "A Java regular expression that must match the whole name of the topic.";
    let valid = Validator::composite([Validator::non_empty_string(), valid_regex()]);
    ConfigDef::new().define(key(PATTERN, ConfigType::String, Importance::Medium, doc).validator(valid))
}

impl TopicNameMatches {
    fn new(properties: &Properties) -> Result<Self, ConfigErrors> {
        let config = config_def().parse(properties)?;
        let pattern = config.string(PATTERN).unwrap_or_default();
        let regex = JavaRegex::new(pattern).map_err(|error| wrong(PATTERN, error.to_string()))?;
        Ok(Self { regex, known: TopicCache::new() })
    }
}

impl DynPredicate for TopicNameMatches {
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError> {
        let regex = &self.regex;
        self.known
            .get_or_make(&record.topic, |topic| regex.matches(topic).map_err(|error| DataError::new(error.to_string())))
    }
}
