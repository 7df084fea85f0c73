//! The pages of `docs/reference/`: every configuration key, written from the very definitions that check it.

use std::fs;
use std::path::PathBuf;

use connect_runtime::config::{
    ClientKind, ConnectorKind, KnownClasses, distributed_config_def, keys_as_markdown, own_keys_def,
    sink_connector_config_def, source_connector_config_def, standalone_config_def,
};
use connect_runtime::kafka::client_config_def;
use connect_runtime::{converters, transforms};
use connect_sdk::config::ConfigDef;
use connect_sdk::plugin::{ConnectorPlugin, Plugins};
use file_connector::{FileStreamSink, FileStreamSource};
use xtask::repo;

/// A page: the name of its file, and its text.
pub type Page = (String, String);

/// Where the pages are.
pub fn dir() -> PathBuf {
    repo::root().join("docs/reference")
}

/// All pages as they should be.
pub fn pages() -> Vec<Page> {
    let plugins = Plugins::new().source::<FileStreamSource>().sink::<FileStreamSink>();
    let plugins = converters::classes().into_iter().fold(plugins, Plugins::with_converter_class);
    let classes = KnownClasses::of(&plugins);
    let page = |file: &str, title: &str, intro: &str, def: &ConfigDef| {
        let table = keys_as_markdown(def);
        (format!("{file}.md"), format!("# {title}\n\n{intro}\n\n{table}"))
    };
    let mut pages = vec![
        page(
            "worker-standalone",
            "Keys of a standalone worker",
            "The properties file of `connect standalone`. `connect config --of standalone` shows the same.",
            &standalone_config_def(&classes),
        ),
        page(
            "worker-distributed",
            "Keys of a worker in a group",
            "A standalone worker knows them too, so that one file can serve both; it says which of them have no effect.",
            &distributed_config_def(&classes),
        ),
        page(
            "source-connectors",
            "Keys of every source connector",
            "Kafka's, then those of this worker alone. `connect config --of source` shows the same.",
            &source_connector_config_def(&classes).and(&own_keys_def(ConnectorKind::Source)),
        ),
        page(
            "sink-connectors",
            "Keys of every sink connector",
            "Kafka's, then those of this worker alone. `connect config --of sink` shows the same.",
            &sink_connector_config_def(&classes).and(&own_keys_def(ConnectorKind::Sink)),
        ),
    ];
    for (kind, name) in
        [(ClientKind::Producer, "producer"), (ClientKind::Consumer, "consumer"), (ClientKind::Admin, "admin")]
    {
        let intro = format!(
            "Kafka's keys, written behind `{name}.` in the worker's file and behind `{name}.override.` in a connector's, and what becomes \
             of each here;\nKafka's documentation says what they mean. Keys of the client library itself are taken too. `connect config --of {name}` shows \
             the same."
        );
        let title = format!("Keys of {name} clients");
        pages.push(page(&format!("clients-{name}"), &title, &intro, &client_config_def(kind)));
    }
    for connector in plugins.connectors() {
        let (kind, def) = match connector {
            ConnectorPlugin::Source(source) => ("source", source.config_def()),
            ConnectorPlugin::Sink(sink) => ("sink", sink.config_def()),
        };
        let title = format!("Keys of the {kind} `{}`", connector.name());
        let intro = format!("`connect config {}` shows the same.", connector.name());
        pages.push(page(&format!("{kind}-{}", connector.name()), &title, &intro, &def));
    }
    let mut text = String::from(
        "# Keys of the converters\n\nWritten behind `key.converter.`, `value.converter.` or `header.converter.`, in the worker's file or, \
         where a connector names a\nconverter of its own, in the connector's.\n",
    );
    for class in plugins.converters() {
        let def = (class.config_def)();
        let keys = if def.keys().is_empty() { "It has no keys.\n".to_owned() } else { keys_as_markdown(&def) };
        text += &format!("\n## {}\n\n{keys}", class.class);
    }
    pages.push(("converters.md".to_owned(), text));
    pages.push(("transformations.md".to_owned(), transformations()));
    pages
}

fn transformations() -> String {
    let mut text = String::from(
        "# Keys of the transformations and predicates\n\nWritten behind `transforms.<alias>.` and `predicates.<alias>.`, beside `type`. A \
         transformation also has `predicate` (the\nalias of the predicate that says which records it is applied to; all without it) and `negate` \
         (`true`: to the others).\n",
    );
    let section = |text: &mut String, class: &str, def: &ConfigDef| {
        let keys = if def.keys().is_empty() { "It has no keys.\n".to_owned() } else { keys_as_markdown(def) };
        *text += &format!("\n## {class}\n\n{keys}");
    };
    for class in transforms::classes() {
        // `$Key` and `$Value` have the same keys.
        match class.class.strip_suffix("$Value") {
            Some(both) => section(&mut text, &format!("{both}$Key, {both}$Value"), &(class.config_def)()),
            None if class.class.ends_with("$Key") => {}
            None => section(&mut text, class.class, &(class.config_def)()),
        }
    }
    for class in transforms::predicates::classes() {
        section(&mut text, class.class, &(class.config_def)());
    }
    text
}

/// What is wrong with the pages in the repository: missing, outdated, or nobody's.
pub fn differences() -> Vec<String> {
    let pages = pages();
    let mut wrong: Vec<String> = pages
        .iter()
        .filter(|(file, text)| fs::read_to_string(dir().join(file)).ok().as_ref() != Some(text))
        .map(|(file, _)| format!("docs/reference/{file} is not what the definitions say"))
        .collect();
    for entry in fs::read_dir(dir()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !pages.iter().any(|(file, _)| *file == name) {
            wrong.push(format!("docs/reference/{name} is no page of the reference"));
        }
    }
    wrong
}
