//! `connect plugins` and `connect config`: what is linked into this worker, and which keys it has.

use super::{EXIT_CONFIG, print};
use crate::{
    config::{
        ClientKind, ConnectorKind, KnownClasses, distributed_config_def, keys_as_json, keys_as_markdown, keys_as_text,
        own_keys_def, sink_connector_config_def, source_connector_config_def, standalone_config_def,
    },
    kafka::client_config_def,
    plugins::{Linked, find_any, linked},
};
use clap::ValueEnum;
use connect_sdk::{config::ConfigDef, plugin::Plugins};
use std::process::ExitCode;

/// How a list is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Table,
    /// As Kafka Connect's REST API gives it.
    Json,
    /// For documentation.
    Markdown,
}

/// Whose keys are shown, if not a plugin's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Owner {
    /// A standalone worker.
    Standalone,
    /// A worker in a group.
    Distributed,
    /// What every source connector has.
    Source,
    /// What every sink connector has.
    Sink,
    /// A producer, behind `producer.` or `producer.override.`.
    Producer,
    /// A consumer, behind `consumer.` or `consumer.override.`.
    Consumer,
    /// An admin client, behind `admin.` or `admin.override.`.
    Admin,
}

/// Prints what is linked.
pub(super) fn list(plugins: &Plugins, format: Format) -> ExitCode {
    let rows = linked(plugins);
    let text = match format {
        Format::Json => {
            let rows: Vec<_> = rows
                .iter()
                .map(|row| serde_json::json!({ "class": row.class, "type": row.kind, "version": row.version }))
                .collect();
            format!("{:#}\n", serde_json::Value::Array(rows))
        }
        Format::Markdown => {
            let head = "| class | type | version | names |\n| --- | --- | --- | --- |\n".to_owned();
            rows.iter().fold(head, |text, row| {
                let names: Vec<String> = row.names.iter().map(|name| format!("`{name}`")).collect();
                text + &format!("| `{}` | {} | {} | {} |\n", row.class, row.kind, row.version, names.join(", "))
            })
        }
        Format::Table => {
            let width = |of: fn(&Linked) -> &str| rows.iter().map(|row| of(row).len()).max().unwrap_or(0);
            let (kinds, classes, versions) = (width(|r| r.kind), width(|r| r.class), width(|r| r.version));
            rows.iter().fold(String::new(), |text, row| {
                let (kind, class, version, names) = (row.kind, row.class, row.version, row.names.join(", "));
                text + format!("{kind:kinds$}  {class:classes$}  {version:versions$}  {names}").trim_end() + "\n"
            })
        }
    };
    print(&text)
}

/// Prints the keys of a plugin.
pub(super) fn plugin_keys(plugins: &Plugins, class: &str, format: Format) -> ExitCode {
    match find_any(plugins, class) {
        Ok(def) => print(&shown(&def, format)),
        Err(why) => {
            tracing::error!("{why}");
            ExitCode::from(EXIT_CONFIG)
        }
    }
}

/// Prints the keys that are no plugin's.
pub(super) fn owner_keys(plugins: &Plugins, owner: Owner, format: Format) -> ExitCode {
    print(&shown(&keys_of(plugins, owner), format))
}

fn shown(def: &ConfigDef, format: Format) -> String {
    match format {
        Format::Table => keys_as_text(def),
        Format::Json => keys_as_json(def) + "\n",
        Format::Markdown => keys_as_markdown(def),
    }
}

fn keys_of(plugins: &Plugins, owner: Owner) -> ConfigDef {
    let classes = KnownClasses::of(plugins);
    match owner {
        Owner::Standalone => standalone_config_def(&classes),
        Owner::Distributed => distributed_config_def(&classes),
        Owner::Source => source_connector_config_def(&classes).and(&own_keys_def(ConnectorKind::Source)),
        Owner::Sink => sink_connector_config_def(&classes).and(&own_keys_def(ConnectorKind::Sink)),
        Owner::Producer => client_config_def(ClientKind::Producer),
        Owner::Consumer => client_config_def(ClientKind::Consumer),
        Owner::Admin => client_config_def(ClientKind::Admin),
    }
}
