//! ConfigDef: parsing, validators, aggregated validation, and the keys of every configuration class and plugin.

use std::collections::BTreeMap;

use connect_runtime::config::{
    KnownClasses, connector_config_def, distributed_config_def, sink_connector_config_def, source_connector_config_def,
    standalone_config_def,
};
use connect_runtime::{converters, transforms};
use connect_sdk::config::{
    Config, ConfigDef, ConfigError, ConfigErrors, ConfigKey, ConfigType, ConfigValueReport, ParsedValue, Recommender,
    Validator,
};
use connect_sdk::converter::ConverterClass;
use connect_sdk::java::number_text::double_text;
use connect_sdk::plugin::{ConnectorPlugin, Plugins};
use connect_sdk::transform::{PredicateClass, TransformationClass};
use serde_json::{Value as Json, json};

use super::case::{Case, Kind, Outcome, Subject};

pub const SUBJECT: Subject = Subject { name: "config", run, exact_messages: true };

/// Everything that a worker may link, but for the connectors in this version: these are known by their Java classes.
pub fn plugins(version: &'static str) -> Plugins {
    let plugins = Plugins::new().source::<file_connector::FileStreamSource>().sink::<file_connector::FileStreamSink>();
    let plugins = converters::classes()
        .into_iter()
        .map(|class| ConverterClass { version, ..class })
        .fold(plugins, Plugins::with_converter_class);
    let plugins = transforms::classes()
        .into_iter()
        .map(|class| TransformationClass { version, ..class })
        .fold(plugins, Plugins::with_transformation_class);
    transforms::predicates::classes()
        .into_iter()
        .map(|class| PredicateClass { version, ..class })
        .fold(plugins, Plugins::with_predicate_class)
}

fn run(case: &Case) -> Outcome {
    match case.op() {
        "parseType" => parse_type(&case.input),
        "parse" => match define(&case.input["def"]) {
            Ok(def) => parse(&def, &case.input["props"]),
            Err(error) => configuration_error("define", &error),
        },
        "validate" => match define(&case.input["def"]) {
            Ok(def) => validation(&def, &case.input),
            Err(error) => configuration_error("define", &error),
        },
        "configDef" | "pluginConfigDef" => with_def(case, |def| Outcome::Result(write_definition(def))),
        "validateConfigDef" | "validatePlugin" => with_def(case, |def| without_plugins(validation(def, &case.input))),
        other => Outcome::skipped(format!("operation `{other}` is not built")),
    }
}

fn configuration_error(stage: &'static str, error: &impl ToString) -> Outcome {
    Outcome::Error { stage, kind: Kind::Configuration, message: error.to_string() }
}

/// Keys that our connectors have beside those of the reference.
const OWN_KEYS: [(&str, &str); 5] = [
    ("org.apache.kafka.connect.file.FileStreamSourceConnector", "files"),
    ("org.apache.kafka.connect.file.FileStreamSourceConnector", "line.max.bytes"),
    ("org.apache.kafka.connect.file.FileStreamSinkConnector", "directory"),
    ("org.apache.kafka.connect.file.FileStreamSinkConnector", "file.max.age.ms"),
    ("org.apache.kafka.connect.file.FileStreamSinkConnector", "file.max.records"),
];

/// Whether the reference's connector lacks a key.
pub fn is_own_key(class: &str, key: &str) -> bool {
    OWN_KEYS.contains(&(class, key))
}

/// Without the keys that the reference does not have.
fn as_the_reference(class: &str, def: &ConfigDef) -> ConfigDef {
    def.keys().iter().filter(|key| !is_own_key(class, key.name())).cloned().fold(ConfigDef::new(), ConfigDef::define)
}

/// Java stops at the first error; ours come in the same order.
fn first(errors: &ConfigErrors) -> &ConfigError {
    errors.iter().next().expect("there is an error")
}

/// The definition of a class, by its Java name.
fn with_def(case: &Case, then: impl FnOnce(&ConfigDef) -> Outcome) -> Outcome {
    let plugins = plugins("1");
    let known = KnownClasses::of(&plugins);
    let class = case.class.as_deref().unwrap_or("");
    let def = match class {
        "org.apache.kafka.connect.runtime.ConnectorConfig" => connector_config_def(&known),
        "org.apache.kafka.connect.runtime.SourceConnectorConfig" => source_connector_config_def(&known),
        "org.apache.kafka.connect.runtime.SinkConnectorConfig" => sink_connector_config_def(&known),
        "org.apache.kafka.connect.runtime.standalone.StandaloneConfig" => standalone_config_def(&known),
        "org.apache.kafka.connect.runtime.distributed.DistributedConfig" => distributed_config_def(&known),
        _ => match plugins.connector(class) {
            Some(ConnectorPlugin::Source(source)) => source.config_def(),
            Some(ConnectorPlugin::Sink(sink)) => sink.config_def(),
            _ => match other_plugin(&plugins, class) {
                Some(def) => def,
                None => return Outcome::skipped(format!("the definition of `{}` is not built", case.class())),
            },
        },
    };
    then(&as_the_reference(class, &def))
}

fn other_plugin(plugins: &Plugins, class: &str) -> Option<ConfigDef> {
    let converter = plugins.converters().iter().find(|converter| converter.class == class);
    let converter = converter.map(|converter| converter.config_def);
    let transformation = plugins.transformation_class(class).map(|transformation| transformation.config_def);
    let predicate = plugins.predicate_class(class).map(|predicate| predicate.config_def);
    converter.or(transformation).or(predicate).map(|def| def())
}

fn parse_type(input: &Json) -> Outcome {
    let kind = config_type(input["type"].as_str().expect("a type"));
    match ParsedValue::parse("key", input["value"].as_str(), kind) {
        Ok(value) => Outcome::Result(json!({ "value": write_parsed(&value), "text": value.text() })),
        Err(error) => configuration_error("apply", &error),
    }
}

fn parse(def: &ConfigDef, props: &Json) -> Outcome {
    match def.parse_nullable(&read_props(props)) {
        Ok(config) => Outcome::Result(config.iter().map(|(name, value)| json!([name, write_parsed(value)])).collect()),
        Err(errors) => configuration_error("parse", first(&errors)),
    }
}

fn validation(def: &ConfigDef, input: &Json) -> Outcome {
    let mut reports = def.validate_nullable(&read_props(&input["props"]));
    if input["errorsOnly"] == true {
        reports.retain(|report| !report.errors.is_empty());
    }
    reports.sort_by(|a, b| a.name.cmp(&b.name));
    Outcome::Result(reports.iter().map(write_report).collect())
}

/// The reference's classes do not know which plugins are there until a worker tells them: they offer none.
fn without_plugins(outcome: Outcome) -> Outcome {
    let Outcome::Result(Json::Array(mut reports)) = outcome else { return outcome };
    for report in &mut reports {
        if report["name"].as_str().is_some_and(|name| name.ends_with(".converter")) {
            report["recommended"] = json!([]);
        }
    }
    Outcome::Result(Json::Array(reports))
}

fn write_report(report: &ConfigValueReport) -> Json {
    let recommended: Vec<Option<String>> = report.recommended.iter().map(ParsedValue::text).collect();
    json!({
        "name": report.name, "value": write_parsed(&report.value), "text": report.text(), "recommended": recommended,
        "errors": report.errors, "visible": report.visible,
    })
}

fn write_definition(def: &ConfigDef) -> Json {
    let mut keys: Vec<&ConfigKey> = def.keys().iter().collect();
    keys.sort_by_key(|key| key.name());
    keys.into_iter()
        .map(|key| {
            json!({
                "name": key.name(), "type": key.config_type().to_string(), "required": key.is_required(),
                "default": key.default_value().and_then(ParsedValue::text),
                "importance": key.importance_level().to_string(), "group": key.group_name(),
                "order": key.order_in_group(), "width": key.field_width().to_string(), "display_name": key.title(),
                "dependents": key.dependent_keys(),
            })
        })
        .collect()
}

fn write_parsed(value: &ParsedValue) -> Json {
    match value {
        ParsedValue::Null => Json::Null,
        ParsedValue::Boolean(value) => json!({ "boolean": value }),
        ParsedValue::String(value) => json!({ "string": value }),
        ParsedValue::Int(value) => json!({ "int32": value }),
        ParsedValue::Short(value) => json!({ "int16": value }),
        ParsedValue::Long(value) => json!({ "int64": value }),
        ParsedValue::Double(value) => json!({ "float64": double_text(*value) }),
        ParsedValue::List(items) => {
            json!({ "array": items.iter().map(|item| json!({ "string": item })).collect::<Vec<_>>() })
        }
        ParsedValue::Class(name) => json!({ "class": name }),
        ParsedValue::Password(secret) => json!({ "password": secret.expose() }),
    }
}

fn read_props(props: &Json) -> BTreeMap<String, Option<String>> {
    let members = props.as_object().into_iter().flatten();
    members.map(|(key, value)| (key.clone(), value.as_str().map(str::to_owned))).collect()
}

fn config_type(name: &str) -> ConfigType {
    use ConfigType::*;
    let all = [Boolean, String, Int, Short, Long, Double, List, Class, Password];
    all.into_iter().find(|kind| kind.to_string() == name).expect("a type of configuration values")
}

fn define(keys: &Json) -> Result<ConfigDef, ConfigError> {
    let keys = keys.as_array().expect("a list of keys");
    let def = keys.iter().fold(ConfigDef::new(), |def, node| def.define(read_key(node)));
    def.check().map_err(|errors| first(&errors).clone())?;
    Ok(def)
}

fn read_key(node: &Json) -> ConfigKey {
    let name = node["name"].as_str().expect("a key has a name");
    let mut key = ConfigKey::new(name, config_type(node["type"].as_str().expect("a key has a type")));
    key = match node.get("default") {
        None => key,
        Some(Json::Null) => key.null_default(),
        Some(text) => key.default(text.as_str().expect("a default is a text")),
    };
    if let Some(validator) = node.get("validator").filter(|node| !node.is_null()) {
        key = key.validator(read_validator(validator));
    }
    if let Some(recommender) = node.get("recommender").filter(|node| !node.is_null()) {
        let visible = recommender["visible"].as_bool().unwrap_or(true);
        key = key.recommender(Fixed { values: strings(&recommender["values"]), visible });
    }
    key.dependents(strings(&node["dependents"]))
}

fn strings(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|item| item.as_str().expect("a text").to_owned()).collect()
}

fn read_validator(node: &Json) -> Validator {
    let number = |name: &str| {
        let number = &node[name];
        number.as_i64().map_or_else(|| number.as_f64().expect("a number").into(), Into::into)
    };
    let bound = |name: &str| -> connect_sdk::config::Bound { number(name) };
    let flag = |name: &str, default: bool| node[name].as_bool().unwrap_or(default);
    let values = || strings(&node["values"]);
    match node["kind"].as_str().expect("a validator has a kind") {
        "atLeast" => Validator::at_least(bound("min")),
        "between" => Validator::between(bound("min"), bound("max")),
        "validString" => Validator::valid_string(values()),
        "caseInsensitiveValidString" => Validator::case_insensitive_valid_string(values()),
        "validList" => Validator::valid_list(flag("emptyAllowed", true), values()),
        "anyNonDuplicateValues" => {
            Validator::any_non_duplicate_values(flag("emptyAllowed", false), flag("nullAllowed", false))
        }
        "nonNull" => Validator::non_null(),
        "nonEmptyString" => Validator::non_empty_string(),
        "nonEmptyStringWithoutControlChars" => Validator::non_empty_string_without_control_chars(),
        "listSize" => Validator::list_size(usize::try_from(node["max"].as_u64().expect("a size")).expect("a size")),
        "composite" => Validator::composite(node["of"].as_array().expect("a list").iter().map(read_validator)),
        other => panic!("validator `{other}` is not in the notation"),
    }
}

/// Always offers the same values.
#[derive(Debug)]
struct Fixed {
    values: Vec<String>,
    visible: bool,
}

impl Recommender for Fixed {
    fn valid_values(&self, _: &str, _: &Config) -> Result<Vec<ParsedValue>, ConfigError> {
        Ok(self.values.iter().map(|value| value.as_str().into()).collect())
    }

    fn visible(&self, _: &str, _: &Config) -> Result<bool, ConfigError> {
        Ok(self.visible)
    }
}
