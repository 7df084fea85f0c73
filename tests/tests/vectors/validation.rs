//! What a worker answers when it is asked to judge the configuration of a connector: its keys, their values, what may be
//! chosen, and what is wrong.

use std::collections::BTreeMap;

use connect_runtime::config::{
    ConfigInfo, ConnectorKind, ExactlyOnceWorker, OverridePolicy, Validation, own_keys_def, validate_connector,
};
use connect_runtime::transforms::ChainConfig;
use connect_sdk::config::{ConfigDef, ConfigErrors};
use connect_sdk::plugin::ConnectorPlugin;
use serde_json::{Value as Json, json};

use super::case::{Case, Outcome, Subject};
use super::config::{is_own_key, plugins};

pub const SUBJECT: Subject = Subject { name: "validation", run, exact_messages: false };

/// The version of the reference's plugins.
const VERSION: &str = "4.3.1";

fn run(case: &Case) -> Outcome {
    let plugins = plugins(VERSION);
    let text: BTreeMap<String, String> =
        case.config.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect();
    let class = text.get("connector.class").map_or("", |class| class.trim());
    let Some(connector) = plugins.connector(class) else {
        return Outcome::skipped(format!("`{class}` is not linked"));
    };
    let kind = match connector {
        ConnectorPlugin::Source(_) => ConnectorKind::Source,
        ConnectorPlugin::Sink(_) => ConnectorKind::Sink,
    };
    let json = "org.apache.kafka.connect.json.JsonConverter".to_owned();
    let headers = "org.apache.kafka.connect.storage.SimpleHeaderConverter".to_owned();
    let worker_converters = [("key.converter", json.clone()), ("value.converter", json), ("header.converter", headers)];
    let worker_converters = worker_converters.map(|(key, class)| (key.to_owned(), class)).into();
    let chain = ChainConfig::from_properties(&plugins, &text).err().unwrap_or_default();
    let infos = validate_connector(&Validation {
        plugins: &plugins,
        connector,
        properties: &case.config,
        policy: &OverridePolicy::All,
        worker_group: None,
        exactly_once: &ExactlyOnceWorker::Standalone { offsets_in_topic: true },
        chain: &chain,
        clients: &ConfigErrors::new(),
        // None overrides settings of clients.
        client_def: |_| ConfigDef::new(),
        worker_converters: &worker_converters,
    });
    let own = own_keys_def(kind);
    let is_own = |name: &str| is_own_key(connector.class(), name) || own.key(name).is_some();
    // A group that only keys of our own have.
    let groups: Vec<&String> = infos.groups.iter().filter(|group| *group != "Limits").collect();
    let shown = |info: &&ConfigInfo| !is_own(name(info)) && is_shown(case, info);
    let configs: Vec<Json> = infos.configs.iter().filter(shown).map(write).collect();
    Outcome::Result(json!({ "error_count": infos.error_count, "groups": groups, "configs": configs }))
}

/// The keys of plugins, and others with which something is wrong.
fn is_shown(case: &Case, info: &ConfigInfo) -> bool {
    let name = name(info);
    let of_plugins = ["transforms.", "predicates.", "key.converter.", "value.converter.", "header.converter."];
    of_plugins.iter().any(|prefix| name.starts_with(prefix))
        || name == "connector.plugin.version"
        || name.ends_with(".converter") && case.config.contains_key(name)
        || info.value.as_ref().is_some_and(|value| !value.errors.is_empty())
}

fn name(info: &ConfigInfo) -> &str {
    let of_definition = info.definition.as_ref().map(|definition| &definition.name);
    of_definition.or(info.value.as_ref().map(|value| &value.name)).map_or("", String::as_str)
}

fn write(info: &ConfigInfo) -> Json {
    let definition = info.definition.as_ref().map(|key| {
        json!({
            "type": key.config_type, "required": key.required, "default": key.default_value, "importance": key.importance,
            "group": key.group, "order": key.order_in_group, "width": key.width, "display_name": key.display_name,
            "dependents": key.dependents,
        })
    });
    let value = info.value.as_ref().map(|value| {
        json!({
            "value": value.value, "visible": value.visible, "recommended": value.recommended_values, "errors": value.errors,
        })
    });
    json!({ "name": name(info), "definition": definition, "value": value })
}
