//! Validation gives what Kafka's REST API would answer.

use connect_sdk::config::{ConfigError, ConfigKey, ConfigType};
use connect_sdk::converter::ConverterClass;
use connect_sdk::prelude::*;
use connect_sdk::task::OpenCx;
use connect_sdk::transform::TransformationClass;

use super::*;

/// Only its configuration matters here.
#[derive(ConnectorConfig)]
#[config(check = exclusive)]
struct PrintConfig {
    /// Where to.
    #[config(importance = high)]
    file: Option<String>,
    /// The login.
    login: Option<Password>,
    /// How many columns.
    #[config(default = 10, range = 1..=100)]
    width: i32,
}

fn exclusive(config: &PrintConfig) -> std::result::Result<(), ConfigError> {
    if config.file.is_some() && config.login.is_some() && config.width > 0 {
        return Err(ConfigError::on("file", "`file` and `login` exclude each other"));
    }
    Ok(())
}

struct Print;

/// Prints nothing.
#[sink_connector(name = "print")]
impl DirectSink for Print {
    type Config = PrintConfig;

    async fn open(_: &PrintConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self)
    }

    async fn put(&mut self, _: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        Ok(())
    }
}

fn plugins() -> Plugins {
    Plugins::new()
        .sink::<Print>()
        .with_converter_class(ConverterClass {
            class: "org.example.UpperConverter",
            version: "1",
            name: None,
            doc: "",
            type_name: "",
            config_def: || {
                let key = ConfigKey::new("depth", ConfigType::Int);
                ConfigDef::new().define(key.default("1").group("Upper", 0))
            },
            converter: Some(|_, _| Err("not made here".into())),
            header_converter: None,
        })
        .with_transformation_class(TransformationClass {
            class: "org.example.Trim$Value",
            version: "1.2",
            name: None,
            doc: "",
            type_name: "",
            config_def: || {
                let keys = ["negate", "length"].map(|name| ConfigKey::new(name, ConfigType::Int).default("1"));
                keys.into_iter().fold(ConfigDef::new(), ConfigDef::define)
            },
            make: |_| Err("not made here".into()),
        })
}

fn validate(pairs: &[(&str, Option<&str>)], policy: &OverridePolicy) -> ConfigInfos {
    validate_with_chain(pairs, policy, &ConfigErrors::new())
}

fn validate_with_chain(pairs: &[(&str, Option<&str>)], policy: &OverridePolicy, chain: &ConfigErrors) -> ConfigInfos {
    let plugins = plugins();
    let sound = [("name", Some("c")), ("connector.class", Some("print")), ("topics", Some("t"))];
    let all = sound.iter().chain(pairs);
    let properties = all.map(|(k, v)| ((*k).to_owned(), v.map(str::to_owned))).collect();
    validate_connector(&Validation {
        plugins: &plugins,
        connector: plugins.connector("print").unwrap(),
        properties: &properties,
        policy,
        worker_group: Some("connect-c"),
        exactly_once: &ExactlyOnceWorker::Standalone { offsets_in_topic: false },
        chain,
        clients: &ConfigErrors::new(),
        client_def: |_| ConfigDef::new().define(ConfigKey::new("fetch.min.bytes", ConfigType::Long).default("1")),
        worker_converters: &BTreeMap::new(),
    })
}

fn errors(infos: &ConfigInfos) -> Vec<(&str, &str)> {
    let values = infos.configs.iter().filter_map(|config| config.value.as_ref());
    values.flat_map(|value| value.errors.iter().map(|error| (value.name.as_str(), error.as_str()))).collect()
}

#[test]
fn every_part_of_a_configuration_is_judged() {
    let infos = validate(
        &[
            ("name", Some("other")),
            ("tasks.max", Some("0")),
            ("width", Some("0")),
            ("file", None),
            ("key.converter", Some("UpperConverter")),
            ("key.converter.depth", Some("deep")),
            ("consumer.override.fetch.min.bytes", Some("1")),
            ("producer.override.acks", Some("1")),
        ],
        &OverridePolicy::None,
    );
    assert_eq!(
        errors(&infos),
        [
            ("tasks.max", "Invalid value 0 for configuration tasks.max: Value must be at least 1"),
            ("file", "Null value can not be supplied as the configuration value."),
            ("width", "Invalid value 0 for configuration width: Value must be at least 1"),
            (
                "consumer.override.fetch.min.bytes",
                "The 'None' policy does not allow 'fetch.min.bytes' to be overridden in the connector configuration."
            ),
            ("key.converter.depth", "Invalid value deep for configuration depth: Not a number of type INT"),
        ]
    );
    // A sink without a dead letter queue has no producer, so nobody judges what it would override there.
    assert_eq!(infos.error_count, 5);
    assert_eq!(infos.groups.last().map(String::as_str), Some("Upper"));
    assert_eq!(infos.name, "print");
}

#[test]
fn what_no_single_key_shows_is_judged_too() {
    let infos = validate(&[("file", Some("f")), ("login", Some("s3cret"))], &OverridePolicy::All);
    assert_eq!(
        errors(&infos),
        [
            ("name", "Consumer group for sink connector named c conflicts with Connect worker group connect-c"),
            ("file", "`file` and `login` exclude each other"),
        ]
    );
    let json = serde_json::to_string(&infos).unwrap();
    assert!(!json.contains("s3cret") && json.contains("[hidden]"));
}

#[test]
fn transformations_bring_their_keys_in_groups_of_their_own() {
    let chain: ConfigErrors = [
        ("transforms.a.length", "reported otherwise"),
        ("transforms.c.predicate", "no such predicate"),
        (
            "transforms.b.negate",
            "Config 'transforms.b.negate' was provided but there is no config 'transforms.b.predicate' \
          defining a predicate to be negated.",
        ),
    ]
    .into_iter()
    .map(|(key, text)| ConfigError::on(key, text))
    .collect();
    let infos = validate_with_chain(
        &[
            ("name", Some("other")),
            ("transforms", Some("a, b,a")),
            ("transforms.a.type", Some("org.example.Trim$Value")),
            ("transforms.a.length", Some("x")),
            ("transforms.b.type", Some("Trim")),
            ("transforms.b.negate", Some("true")),
            ("predicates", Some("p")),
        ],
        &OverridePolicy::All,
        &chain,
    );
    let of = |prefix: &str| -> Vec<(&str, Option<&str>, i32, &str)> {
        let keys = infos.configs.iter().filter_map(|config| config.definition.as_ref());
        let keys = keys.filter(|key| key.name.starts_with(prefix));
        keys.map(|key| (key.name.as_str(), key.group.as_deref(), key.order_in_group, key.config_type.as_str()))
            .collect()
    };
    let group = Some("Transforms: a");
    assert_eq!(
        of("transforms.a."),
        [
            ("transforms.a.type", group, 0, "CLASS"),
            ("transforms.a.plugin.version", group, 1, "STRING"),
            ("transforms.a.length", group, 2, "INT"),
            // The framework's, not the class's.
            ("transforms.a.negate", group, 3, "BOOLEAN"),
            ("transforms.a.predicate", group, 4, "STRING"),
        ]
    );
    assert_eq!(of("predicates.p.").len(), 2);
    let named: Vec<_> = errors(&infos).into_iter().filter(|(key, _)| *key != "transforms").collect();
    assert_eq!(
        named,
        [
            ("transforms.c.predicate", "no such predicate"),
            ("transforms.a.length", "Invalid value x for configuration transforms.a.length: Not a number of type INT"),
            (
                "transforms.b.type",
                "Invalid value Trim for configuration transforms.b.type: Class Trim could not be found."
            ),
            (
                "transforms.b.type",
                "Config 'transforms.b.negate' was provided but there is no config 'transforms.b.predicate' defining a \
                 predicate to be negated."
            ),
            ("predicates.p.type", "Missing required configuration \"predicates.p.type\" which has no default value."),
        ]
    );
}

#[test]
fn the_answer_has_the_form_of_kafkas() {
    let infos = validate(&[("name", Some("other")), ("tasks.max", Some("2"))], &OverridePolicy::All);
    assert_eq!(infos.error_count, 0);
    let json = serde_json::to_value(&infos).unwrap();
    let tasks = json["configs"].as_array().unwrap().iter().find(|c| c["definition"]["name"] == "tasks.max").unwrap();
    assert_eq!(
        serde_json::to_string(tasks).unwrap(),
        "{\"definition\":{\"name\":\"tasks.max\",\"type\":\"INT\",\"required\":false,\"default_value\":\"1\",\"importance\":\
         \"HIGH\",\"documentation\":\"How many tasks the connector may have at most.\",\"group\":\"Common\",\"order_in_group\"\
         :4,\"width\":\"SHORT\",\"display_name\":\"Tasks max\",\"dependents\":[]},\"value\":{\"name\":\"tasks.max\",\"value\":\
         \"2\",\"recommended_values\":[],\"errors\":[],\"visible\":true}}"
    );
}
