//! `RegexRouter`: renames topics that match a regular expression.

use super::settings::wrong;
use super::topic_cache::TopicCache;
use connect_sdk::config::{ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, Text};
use connect_sdk::java::regex::{JavaRegex, Replacement};
use connect_sdk::transform::{ConnectRecord, Transformation};
use connect_sdk::transformation;

const REPLACEMENT: &str = "replacement";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct RegexRouterConfig {
    /// A Java regular expression. A topic is renamed if it matches the whole name.
    #[config(importance = high)]
    regex: JavaRegex,
    /// The new name; `$1` and `${name}` stand for what groups matched, a backslash keeps what follows.
    #[config(importance = high)]
    replacement: Text,
}

/// `org.apache.kafka.connect.transforms.RegexRouter`.
#[derive(Debug)]
pub(super) struct RegexRouter {
    regex: JavaRegex,
    replacement: Replacement,
    /// The new name; none where the pattern does not match.
    routes: TopicCache<Option<Text>>,
}

/// Renames topics that match a regular expression.
#[transformation(java = "org.apache.kafka.connect.transforms.RegexRouter", version = "4.3.1")]
impl Transformation for RegexRouter {
    type Config = RegexRouterConfig;

    fn new(config: RegexRouterConfig) -> Result<Self, ConfigErrors> {
        let text = &config.replacement;
        let replacement = config.regex.replacement(text).map_err(|error| {
            wrong(REPLACEMENT, format!("Invalid value {text} for configuration {REPLACEMENT}: {error}"))
        })?;
        Ok(Self { regex: config.regex, replacement, routes: TopicCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let (regex, replacement) = (&self.regex, &self.replacement);
        let route = self.routes.get_or_make(&record.topic, |topic| {
            let given_up = |error: connect_sdk::java::regex::RegexError| DataError::new(error.to_string());
            if !regex.matches(topic).map_err(given_up)? {
                return Ok(None);
            }
            regex.replace_first(topic, replacement).map(|name| Some(name.into())).map_err(given_up)
        })?;
        if let Some(name) = route {
            record.topic = name;
        }
        Ok(Some(record))
    }
}
