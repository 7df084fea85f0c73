//! `RegexRouter`: renames topics that match a regular expression.

use super::settings::{key, valid_regex, wrong};
use super::topic_cache::TopicCache;
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance};
use connect_sdk::data::{DataError, Text};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::java::regex::{JavaRegex, Replacement};
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const REGEX: &str = "regex";
const REPLACEMENT: &str = "replacement";

pub(super) const CLASS: TransformationClass = TransformationClass {
    class: "org.apache.kafka.connect.transforms.RegexRouter",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def,
    make: |properties| Ok(Box::new(RegexRouter::new(properties)?)),
};

/// `org.apache.kafka.connect.transforms.RegexRouter`.
#[derive(Debug)]
struct RegexRouter {
    regex: JavaRegex,
    replacement: Replacement,
    /// The new name; none where the pattern does not match.
    routes: TopicCache<Option<Text>>,
}

fn config_def() -> ConfigDef {
    let regex = "A Java regular expression. A topic is renamed if it matches the whole name.";
    let replacement = "The new name; `$1` and `${name}` stand for what groups matched, a backslash keeps what follows.";
    ConfigDef::new()
        .define(key(REGEX, ConfigType::String, Importance::High, regex).validator(valid_regex()))
        .define(key(REPLACEMENT, ConfigType::String, Importance::High, replacement))
}

impl RegexRouter {
    fn new(properties: &Properties) -> Result<Self, ConfigErrors> {
        let config = config_def().parse(properties)?;
        let (regex, replacement) = (config.string(REGEX).unwrap_or_default(), config.string(REPLACEMENT));
        let regex = JavaRegex::new(regex).map_err(|error| wrong(REGEX, error.to_string()))?;
        let text = replacement.unwrap_or_default();
        let replacement = regex.replacement(text).map_err(|error| {
            wrong(REPLACEMENT, format!("Invalid value {text} for configuration {REPLACEMENT}: {error}"))
        })?;
        Ok(Self { regex, replacement, routes: TopicCache::new() })
    }
}

impl DynTransformation for RegexRouter {
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
