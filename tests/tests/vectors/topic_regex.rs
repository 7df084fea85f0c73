//! Where a connector's configuration holds topic names or Java regular expressions.

use std::collections::BTreeMap;

use connect_runtime::config::{
    KnownClasses, TopicCreationRules, sink_topic_errors, sink_topics, source_connector_config_def,
};
use connect_sdk::java::regex::JavaRegex;
use serde_json::{Value as Json, json};

use super::case::{Case, Kind, Outcome, Subject};

pub const SUBJECT: Subject = Subject { name: "topic_regex", run, exact_messages: true };

fn run(case: &Case) -> Outcome {
    let topics: Vec<&str> = case.input["topics"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    match case.op() {
        "matches" => matches(case.input["regex"].as_str().expect("a pattern"), &topics),
        "sinkTopics" => sink(&present(&case.config)),
        "topicCreation" => topic_creation(&case.config, &topics),
        other => Outcome::skipped(format!("operation `{other}` is not built")),
    }
}

fn error(stage: &'static str, error: &impl ToString) -> Outcome {
    Outcome::Error { stage, kind: Kind::Configuration, message: error.to_string() }
}

fn present(config: &BTreeMap<String, Option<String>>) -> BTreeMap<String, String> {
    config.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect()
}

fn matches(pattern: &str, topics: &[&str]) -> Outcome {
    let regex = match JavaRegex::new(pattern) {
        Ok(regex) => regex,
        Err(wrong) => return error("compile", &wrong),
    };
    let matched = topics.iter().map(|topic| regex.matches(topic).map(|matched| json!([topic, matched])));
    matched.collect::<Result<Json, _>>().map_or_else(|wrong| error("apply", &wrong), Outcome::Result)
}

fn sink(config: &BTreeMap<String, String>) -> Outcome {
    let mut errors = match sink_topic_errors(config) {
        Ok(errors) => errors,
        Err(wrong) => return error("apply", &wrong),
    };
    errors.sort_by(|a, b| a.key().cmp(&b.key()));
    let errors: Vec<Json> = errors.iter().map(|error| json!([error.key(), error.message()])).collect();
    Outcome::Result(json!({ "errors": errors, "topics": sink_topics(config) }))
}

fn topic_creation(config: &BTreeMap<String, Option<String>>, topics: &[&str]) -> Outcome {
    let mut with_nulls = config.clone();
    with_nulls.insert("name".to_owned(), Some("connector".to_owned()));
    with_nulls.insert("connector.class".to_owned(), Some("FileStreamSource".to_owned()));
    if let Err(errors) = source_connector_config_def(&KnownClasses::default()).parse_nullable(&with_nulls) {
        return error("config", errors.iter().next().expect("there is an error"));
    }
    if let Some((key, _)) = config.iter().find(|(_, value)| value.is_none()) {
        return error("config", &format!("`{key}` is null"));
    }
    let rules = match TopicCreationRules::from_properties(&present(config)) {
        Ok(rules) => rules,
        Err(errors) => return error("config", errors.iter().next().expect("there is an error")),
    };
    let found = topics.iter().map(|topic| {
        let Some(rules) = &rules else { return Ok(json!({ "topic": topic, "group": null })) };
        rules.group(topic).map(|group| {
            let configs: Vec<Json> = group.configs.iter().map(|(key, value)| json!([key, value])).collect();
            json!({
                "topic": topic, "group": group.name, "partitions": group.partitions,
                "replicationFactor": group.replication_factor, "configs": configs,
            })
        })
    });
    found.collect::<Result<Json, _>>().map_or_else(|wrong| error("apply", &wrong), Outcome::Result)
}
