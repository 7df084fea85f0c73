//! Finds connectors, converters and other plugins by the text in a configuration; an unknown one lists what is linked.

use connect_sdk::{
    config::ConfigDef,
    converter::ConverterClass,
    nearest::unknown_class,
    plugin::{ConnectorPlugin, Plugins},
    transform::{PredicateClass, TransformationClass},
};

/// The connector of a `connector.class`.
///
/// # Errors
/// Names the nearest linked class and all others.
pub(crate) fn find_connector<'a>(plugins: &'a Plugins, class: &str) -> Result<&'a ConnectorPlugin, String> {
    plugins.connector(class).ok_or_else(|| {
        let names = plugins.connectors().iter().map(ConnectorPlugin::name);
        unknown_class("connector", class, names, plugins.connectors().iter().flat_map(ConnectorPlugin::aliases))
    })
}

/// The converter of a `key.converter`, `value.converter` or `header.converter`.
///
/// # Errors
/// Names the nearest linked class and all others.
pub(crate) fn find_converter<'a>(plugins: &'a Plugins, class: &str) -> Result<&'a ConverterClass, String> {
    plugins.converter_class(class).ok_or_else(|| {
        let names = || plugins.converters().iter().map(|c| c.class);
        unknown_class("converter", class, names().map(simple_name), names().flat_map(|n| [n, simple_name(n)]))
    })
}

/// A plugin as `connect plugins` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Linked {
    /// Kafka's word for its kind.
    pub(crate) kind: &'static str,
    /// The class that configurations, REST and logs show.
    pub(crate) class: &'static str,
    pub(crate) version: &'static str,
    /// The other names that configurations may have for it.
    pub(crate) names: Vec<&'static str>,
}

/// Everything that is linked, by kind in Kafka's order, each kind in order of registration.
pub(crate) fn linked(plugins: &Plugins) -> Vec<Linked> {
    let connector = |of: &ConnectorPlugin| {
        let class = of.class();
        let names = each_once(of.aliases().filter(|alias| *alias != class));
        let kind = if matches!(of, ConnectorPlugin::Sink(_)) { "sink" } else { "source" };
        Linked { kind, class, version: of.version(), names }
    };
    let converter = |kind: &'static str| {
        move |of: &ConverterClass| Linked {
            kind,
            class: of.class,
            version: of.version,
            names: vec![simple_name(of.class)],
        }
    };
    let is_sink = |of: &&ConnectorPlugin| matches!(of, ConnectorPlugin::Sink(_));
    let connectors = || plugins.connectors().iter();
    let keys_and_values = plugins.converters().iter().filter(|of| of.converter.is_some());
    let headers = plugins.converters().iter().filter(|of| of.header_converter.is_some());
    let transformation = |of: &TransformationClass| Linked {
        kind: "transformation",
        class: of.class,
        version: of.version,
        names: of.aliases().filter(|alias| *alias != of.class).collect(),
    };
    let predicate = |of: &PredicateClass| Linked {
        kind: "predicate",
        class: of.class,
        version: of.version,
        names: of.aliases().filter(|alias| *alias != of.class).collect(),
    };
    connectors()
        .filter(is_sink)
        .chain(connectors().filter(|of| !is_sink(of)))
        .map(connector)
        .chain(keys_and_values.map(converter("converter")))
        .chain(headers.map(converter("header_converter")))
        .chain(plugins.transformations().iter().map(transformation))
        .chain(plugins.predicates().iter().map(predicate))
        .collect()
}

/// The keys of the plugin with this name, whatever its kind.
///
/// # Errors
/// Names the nearest linked class and all others.
pub(crate) fn find_any(plugins: &Plugins, class: &str) -> Result<ConfigDef, String> {
    if let Some(connector) = plugins.connector(class) {
        return Ok(match connector {
            ConnectorPlugin::Source(source) => source.config_def(),
            ConnectorPlugin::Sink(sink) => sink.config_def(),
        });
    }
    if let Some(converter) = plugins.converter_class(class) {
        return Ok((converter.config_def)());
    }
    if let Some(transformation) = plugins.transformation_class(class) {
        return Ok((transformation.config_def)());
    }
    if let Some(predicate) = plugins.predicate_class(class) {
        return Ok((predicate.config_def)());
    }
    let linked = linked(plugins);
    let classes = each_once(linked.iter().map(|of| of.class));
    let names = linked.iter().flat_map(|of| of.names.iter().copied().chain([of.class]));
    Err(unknown_class("plugin", class, classes.into_iter(), names))
}

fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.fold(Vec::new(), |mut all, name| {
        if !all.contains(&name) {
            all.push(name);
        }
        all
    })
}

fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}
