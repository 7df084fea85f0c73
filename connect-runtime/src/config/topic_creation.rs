//! Which settings a topic gets that a source connector creates: `topic.creation.*`.

use std::collections::BTreeMap;

use super::key::{key, partitions, replication_factor, unique_aliases};
use connect_sdk::config::ConfigType::{Int, List, Short};
use connect_sdk::config::Importance::Low;
use connect_sdk::config::{Config, ConfigDef, ConfigError, ConfigErrors, ParsedValue, Validator};
use connect_sdk::java::regex::{JavaRegex, RegexError};

const PREFIX: &str = "topic.creation.";
const DEFAULT: &str = "default";
/// The keys of a group that are not passed on as settings of the topic.
const OWN_KEYS: [&str; 4] = ["include", "exclude", "replication.factor", "partitions"];

/// The topic creation groups of a connector, in the order in which they are tried.
#[derive(Debug)]
pub struct TopicCreationRules {
    groups: Vec<TopicCreationGroup>,
    default: TopicCreationGroup,
}

/// What topics of one group are created with.
#[derive(Debug)]
#[non_exhaustive]
pub struct TopicCreationGroup {
    /// The group's name.
    pub name: String,
    /// How many partitions a topic gets; -1 leaves it to the broker.
    pub partitions: i32,
    /// How many replicas a topic gets; -1 leaves it to the broker.
    pub replication_factor: i16,
    /// Further settings of a topic.
    pub configs: BTreeMap<String, String>,
    include: JavaRegex,
    exclude: JavaRegex,
}

impl TopicCreationRules {
    /// Reads the rules of a connector; `None` if it has no key that starts with `topic.creation.`.
    ///
    /// # Errors
    /// Everything that is wrong: the required keys of the default group, numbers, patterns.
    pub fn from_properties(properties: &BTreeMap<String, String>) -> Result<Option<Self>, ConfigErrors> {
        if !properties.keys().any(|key| key.starts_with(PREFIX)) {
            return Ok(None);
        }
        let groups_def = ConfigDef::new().define(
            key("topic.creation.groups", List, Low, "")
                .default("")
                .validator(unique_aliases("unique topic creation groups")),
        );
        let groups = groups_def.parse(properties)?;
        let default_prefix = format!("{PREFIX}{DEFAULT}.");
        let default_def = ConfigDef::new().embed(&default_prefix, "", 0, &group_def(None));
        // What the default group includes is no choice.
        let mut readable = properties.clone();
        readable.remove(&format!("{default_prefix}include"));
        readable.remove(&format!("{default_prefix}exclude"));
        let config = default_def.parse(&readable)?;
        let mut default = TopicCreationGroup::new(DEFAULT, &config, properties)?;
        default.include = pattern("include", &[".*".to_owned()])?;

        let mut errors = ConfigErrors::new();
        let mut rules = Vec::new();
        let inherited = (default.partitions, default.replication_factor);
        for name in groups.list("topic.creation.groups").unwrap_or_default().iter().filter(|name| *name != DEFAULT) {
            let def = ConfigDef::new().embed(&format!("{PREFIX}{name}."), "", 0, &group_def(Some(inherited)));
            match def.parse(&readable).and_then(|config| TopicCreationGroup::new(name, &config, properties)) {
                Ok(group) => rules.push(group),
                Err(wrong) => errors.extend(wrong),
            }
        }
        errors.into_result(Some(Self { groups: rules, default }))
    }

    /// The group whose settings a topic gets: the first that takes it, else the default group.
    ///
    /// # Errors
    /// The search for one of the patterns was given up.
    pub fn group(&self, topic: &str) -> Result<&TopicCreationGroup, RegexError> {
        for group in &self.groups {
            if group.takes(topic)? {
                return Ok(group);
            }
        }
        Ok(&self.default)
    }
}

impl TopicCreationGroup {
    fn new(name: &str, config: &Config, properties: &BTreeMap<String, String>) -> Result<Self, ConfigErrors> {
        let prefix = format!("{PREFIX}{name}.");
        let number = |key: &str| config.integer(&format!("{prefix}{key}")).unwrap_or(-1);
        let patterns = |key: &str| config.list(&format!("{prefix}{key}")).unwrap_or_default().to_vec();
        let own = |(key, value): (&String, &String)| {
            let bare = key.strip_prefix(&prefix).filter(|bare| !bare.is_empty() && !OWN_KEYS.contains(bare))?;
            Some((bare.to_owned(), value.clone()))
        };
        Ok(Self {
            name: name.to_owned(),
            partitions: i32::try_from(number("partitions")).unwrap_or(-1),
            replication_factor: i16::try_from(number("replication.factor")).unwrap_or(-1),
            configs: properties.iter().filter_map(own).collect(),
            include: pattern("include", &patterns("include"))?,
            exclude: pattern("exclude", &patterns("exclude"))?,
        })
    }

    /// As Kafka: a group without patterns takes, or refuses, the topic without a name.
    fn takes(&self, topic: &str) -> Result<bool, RegexError> {
        Ok(!self.exclude.matches(topic)? && self.include.matches(topic)?)
    }
}

fn pattern(key: &str, patterns: &[String]) -> Result<JavaRegex, ConfigError> {
    JavaRegex::new(&patterns.join("|"))
        .map_err(|error| syntax_error(key, &ParsedValue::List(patterns.to_vec()), &error))
}

fn syntax_error(key: &str, value: &ParsedValue, error: &RegexError) -> ConfigError {
    ConfigError::invalid(key, value, &format!("Syntax error in regular expression: {error}"))
}

/// The keys of a group, without their prefix; partitions and replicas are required without inherited values.
fn group_def(inherited: Option<(i32, i16)>) -> ConfigDef {
    let patterns = || {
        Validator::lambda("list of regular expressions", |key, value| match value {
            ParsedValue::List(items) => items
                .iter()
                .try_for_each(|item| JavaRegex::new(item).map(drop).map_err(|e| syntax_error(key, value, &e))),
            _ => Err(ConfigError::invalid(key, value, "entry must be non null")),
        })
    };
    let mut replication = key("replication.factor", Short, Low, "").validator(replication_factor()).group("", 3);
    let mut partition_count = key("partitions", Int, Low, "").validator(partitions()).group("", 4);
    if let Some((partitions, replicas)) = inherited {
        replication = replication.default(replicas.to_string());
        partition_count = partition_count.default(partitions.to_string());
    }
    ConfigDef::new()
        .define(key("include", List, Low, "").default("").validator(patterns()).group("", 1))
        .define(key("exclude", List, Low, "").default("").validator(patterns()).group("", 2))
        .define(replication)
        .define(partition_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(pairs: &[(&str, &str)]) -> Result<Option<TopicCreationRules>, String> {
        let properties = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        TopicCreationRules::from_properties(&properties).map_err(|errors| errors.to_string())
    }

    const DEFAULTS: [(&str, &str); 2] =
        [("topic.creation.default.partitions", "3"), ("topic.creation.default.replication.factor", "2")];

    #[test]
    fn the_first_group_that_takes_a_topic_decides() {
        let groups = [
            ("topic.creation.groups", "default,g,h"),
            ("topic.creation.g.include", "x.*"),
            ("topic.creation.g.exclude", "xa"),
            ("topic.creation.h.include", "x[ab]"),
            ("topic.creation.h.partitions", "9"),
            ("topic.creation.h.cleanup.policy", "compact"),
        ];
        let rules = rules(&[&DEFAULTS[..], &groups[..]].concat()).unwrap().unwrap();
        let name = |topic: &str| rules.group(topic).unwrap().name.clone();
        assert_eq!([name("xa"), name("xb"), name("y")], ["h", "g", "default"]);
        let h = rules.group("xa").unwrap();
        assert_eq!((h.partitions, h.replication_factor), (9, 2));
        assert_eq!(h.configs, BTreeMap::from([("cleanup.policy".to_owned(), "compact".to_owned())]));
    }

    #[test]
    fn the_default_group_may_be_named_and_stays_the_last_one() {
        for groups in ["default", "default,g", "g,default"] {
            let pairs = [("topic.creation.groups", groups), ("topic.creation.g.include", "x.*")];
            let pairs = &pairs[..if groups == "default" { 1 } else { 2 }];
            let rules = rules(&[&DEFAULTS[..], pairs].concat()).unwrap().unwrap();
            let expected = if groups == "default" { "default" } else { "g" };
            assert_eq!([&*rules.group("xa").unwrap().name, &*rules.group("y").unwrap().name], [expected, "default"]);
            let default = rules.group("y").unwrap();
            assert_eq!((default.partitions, default.replication_factor), (3, 2), "{groups}");
        }
    }

    #[test]
    fn nothing_is_asked_of_a_connector_without_rules() {
        assert!(rules(&[("name", "c")]).unwrap().is_none());
    }

    #[test]
    fn mistakes_of_all_groups_are_told() {
        let groups =
            [("topic.creation.groups", "g,h"), ("topic.creation.g.include", "("), ("topic.creation.h.partitions", "0")];
        assert_eq!(
            rules(&[&DEFAULTS[..], &groups[..]].concat()).unwrap_err(),
            "Invalid value [(] for configuration include: Syntax error in regular expression: Unclosed group near index 1\n(\n\
             Invalid value 0 for configuration partitions: Number of partitions must be positive, or -1 to use the broker's \
             default"
        );
        assert!(
            rules(&[("topic.creation.groups", "")]).unwrap_err().contains("topic.creation.default.replication.factor")
        );
    }
}
