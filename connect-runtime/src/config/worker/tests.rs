//! Worker configurations, parsed and refused.

use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use crate::config::StandaloneConfig;
use connect_sdk::converter::ConverterClass;
use connect_sdk::plugin::Plugins;

fn plugins() -> Plugins {
    let class = |class, keys, headers| ConverterClass {
        class,
        version: "1",
        name: None,
        doc: "",
        type_name: "",
        config_def: ConfigDef::new,
        converter: if keys { Some(|_, _| Err("not made here".into())) } else { None },
        header_converter: if headers { Some(|_| Err("not made here".into())) } else { None },
    };
    Plugins::new()
        .with_converter_class(class("org.apache.kafka.connect.json.JsonConverter", true, true))
        .with_converter_class(class("org.apache.kafka.connect.storage.StringConverter", true, true))
        .with_converter_class(class("org.apache.kafka.connect.storage.SimpleHeaderConverter", false, true))
}

const SOUND: [(&str, &str); 4] = [
    ("bootstrap.servers", "localhost:9092, other:9092"),
    ("key.converter", "org.apache.kafka.connect.storage.StringConverter"),
    ("value.converter", "JsonConverter"),
    ("offset.storage.file.filename", "/tmp/connect.offsets"),
];

fn load(more: &[(&str, &str)]) -> (Result<StandaloneConfig, String>, Vec<String>) {
    let properties: BTreeMap<String, String> =
        SOUND.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let environment = BTreeMap::from([("PASSWORD".to_owned(), "s3cret".to_owned())]);
    let (config, notices) = StandaloneConfig::load(&properties, &plugins(), &environment);
    (config.map_err(|e| e.to_string()), notices.into_iter().map(|n| format!("{:?} {}", n.level, n.message)).collect())
}

#[test]
fn a_sound_file_is_read_without_a_word() {
    let (config, notices) = load(&[("producer.linger.ms", "5"), ("value.converter.schemas.enable", "false")]);
    let config = config.unwrap();
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(config.worker.bootstrap_servers, ["localhost:9092", "other:9092"]);
    assert_eq!(config.worker.offset_flush_interval, Duration::from_secs(1));
    assert_eq!(config.worker.client_defaults, ClientDefaults::Tuned);
    assert_eq!(load(&[("offset.flush.interval.ms", "10000")]).0.unwrap().worker.offset_flush_interval.as_secs(), 10);
    assert_eq!(config.offset_storage_file.as_deref(), Some(std::path::Path::new("/tmp/connect.offsets")));
}

#[test]
fn every_error_is_told_at_once_with_what_was_meant() {
    let (config, _) = load(&[
        ("value.converter", "org.apache.kafka.connect.json.JsonConvertor"),
        ("offset.flush.interval.ms", "soon"),
        ("offset.flush.timeout.ms", "-1"),
        ("topic.creation.enable", "maybe"),
        ("client.defaults", "fast"),
        ("session.timeout.ms", "x"),
        ("connector.client.config.override.policy", "Some"),
    ]);
    let errors = config.unwrap_err();
    for expected in [
        "Class org.apache.kafka.connect.json.JsonConvertor could not be found. did you mean \
         `org.apache.kafka.connect.json.JsonConverter`? (linked converter classes:",
        "Invalid value soon for configuration offset.flush.interval.ms: Not a number of type LONG",
        "Invalid value maybe for configuration topic.creation.enable: Expected value to be either true or false",
        "Invalid value fast for configuration client.defaults: String must be one of (case insensitive): TUNED, JAVA",
        "Invalid value x for configuration session.timeout.ms: Not a number of type INT",
        "Invalid value Some for configuration connector.client.config.override.policy",
    ] {
        assert!(errors.contains(expected), "{expected}\nis not in\n{errors}");
    }
    assert!(load(&[("offset.flush.timeout.ms", "-1")]).0.unwrap_err().contains("Value must be at least 0"));
}

#[test]
fn a_converter_in_another_version_is_refused() {
    let asked =
        |version| load(&[("key.converter.plugin.version", "[1,2)"), ("value.converter.plugin.version", version)]);
    assert!(asked("1").0.is_ok());
    assert_eq!(
        asked("1.1").0.unwrap_err(),
        "Plugin org.apache.kafka.connect.json.JsonConverter not found that matches the version range [1.1,1.1], available \
         versions: [1]"
    );
}

#[test]
fn keys_without_effect_and_unknown_keys_are_told() {
    let (config, notices) = load(&[
        ("listeners", "http://:8083"),
        ("plugin.path", "/usr/share/java"),
        ("group.id", "g"),
        ("rebalance.timeout.ms", "60000"),
        ("exactly.once.source.support", "enabled"),
        ("task.shutdown.gracefull.timeout.ms", "5"),
        ("offset.storage.file.filenam", "/x"),
        ("offset.storage.retention.ms", "5"),
        ("offset.storage.min.insync.replicas", "2"),
        ("admin.request.timeout.ms", "5"),
        ("completely.different", "1"),
    ]);
    assert_eq!(config.unwrap().group_id, "g");
    assert_eq!(load(&[]).0.unwrap().group_id, "connect-standalone");
    assert_eq!(load(&[("exactly.once.source.support", "disabled")]).1.len(), 1);
    assert_eq!(
        notices,
        [
            "Warn unknown worker key `completely.different`",
            "Warn worker key `exactly.once.source.support` has no effect: in a standalone worker each connector has this \
             key for itself: set it in the connector's configuration",
            "Info worker key `listeners` has no effect: this worker opens no REST API",
            "Warn unknown worker key `offset.storage.file.filenam`; did you mean `offset.storage.file.filename`?",
            "Info worker key `plugin.path` has no effect: plugins are linked into this worker",
            "Info worker key `rebalance.timeout.ms` has no effect: a standalone worker is in no group",
            "Warn unknown worker key `task.shutdown.gracefull.timeout.ms`; did you mean `task.shutdown.graceful.timeout.ms`?",
        ]
    );
}

#[test]
fn offsets_in_a_topic_need_no_file() {
    let mut properties: BTreeMap<String, String> =
        SOUND.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    properties.remove("offset.storage.file.filename");
    let read = |p: &BTreeMap<String, String>| StandaloneConfig::load(p, &plugins(), &BTreeMap::new()).0;
    assert!(read(&properties).unwrap_err().to_string().contains("offset.storage.file.filename"));
    properties.insert("offset.storage.topic".to_owned(), "connect-offsets".to_owned());
    let config = read(&properties).unwrap();
    assert_eq!((config.offset_storage_file, config.offset_storage_topic.as_deref()), (None, Some("connect-offsets")));
}

#[test]
fn values_of_providers_are_put_in() {
    let (config, notices) = load(&[
        ("config.providers", "env"),
        ("config.providers.env.class", "org.apache.kafka.common.config.provider.EnvVarConfigProvider"),
        ("sasl.jaas.config", "password=\"${env:PASSWORD}\";"),
        ("client.id", "${env:NOTHING}"),
    ]);
    let config = config.unwrap();
    assert_eq!(config.worker.properties["sasl.jaas.config"], "password=\"s3cret\";");
    assert_eq!(notices, ["Warn `${env:NOTHING}` in `client.id` has no value; it is left as it is"]);
    assert!(!format!("{config:?}").contains("s3cret"));

    let (config, _) = load(&[
        ("config.providers", "env"),
        ("config.providers.env.class", "EnvVarConfigProvider"),
        ("offset.flush.timeout.ms", "${env:PASSWORD}"),
    ]);
    let errors = config.unwrap_err();
    assert_eq!(
        errors,
        "Invalid value ${env:PASSWORD} for configuration offset.flush.timeout.ms: Not a number of type LONG"
    );
}
