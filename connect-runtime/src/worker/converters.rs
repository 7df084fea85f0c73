//! Chooses and makes the converters of a connector.

use crate::plugins::find_converter;
use connect_sdk::{
    config::{ConfigError, ConfigErrors},
    converter::{BoxConverter, BoxHeaderConverter, ConverterClass, ConverterKind},
    erased::Properties,
    plugin::{Plugins, require_version},
    task::Converters,
};

/// The converter of headers where neither the connector nor the worker names one.
pub(crate) const DEFAULT_HEADER_CONVERTER: &str = "org.apache.kafka.connect.storage.SimpleHeaderConverter";

/// Makes the converters of a connector.
///
/// As in Kafka, a class that the connector names is made with the connector's settings; otherwise the worker's class is
/// made with the worker's settings, and settings of the connector without a class have no effect.
///
/// # Errors
/// Everything that is wrong with any of the three.
pub(crate) fn make_converters(
    plugins: &Plugins,
    worker: &Properties,
    connector: &Properties,
) -> Result<Converters, ConfigErrors> {
    let mut errors = ConfigErrors::new();
    let mut note = |e: ConfigErrors| e.iter().for_each(|e| errors.push(e.clone()));
    let key = key_or_value(plugins, worker, connector, ConverterKind::Key).map_err(&mut note);
    let value = key_or_value(plugins, worker, connector, ConverterKind::Value).map_err(&mut note);
    let header = header(plugins, worker, connector).map_err(&mut note);
    match (key, value, header) {
        (Ok(key), Ok(value), Ok(header)) => Ok(Converters { key, value, header }),
        _ => Err(errors),
    }
}

/// The keys of a connector that look like converter settings but have no effect, because it names no class of its own.
pub(crate) fn ignored_settings(connector: &Properties) -> Vec<&str> {
    [ConverterKind::Key, ConverterKind::Value, ConverterKind::Header]
        .into_iter()
        .map(class_key)
        .filter(|class| !connector.contains_key(*class))
        .flat_map(|class| {
            let keys = connector.keys().map(String::as_str);
            keys.filter(move |k| k.strip_prefix(class).is_some_and(|rest| rest.starts_with('.')))
        })
        .collect()
}

fn class_key(kind: ConverterKind) -> &'static str {
    match kind {
        ConverterKind::Key => "key.converter",
        ConverterKind::Value => "value.converter",
        ConverterKind::Header => "header.converter",
    }
}

fn key_or_value(
    plugins: &Plugins,
    worker: &Properties,
    connector: &Properties,
    kind: ConverterKind,
) -> Result<BoxConverter, ConfigErrors> {
    let (class, settings) = chosen(plugins, worker, connector, kind)?;
    let Some(make) = class.converter else {
        return Err(only_headers(class, kind));
    };
    make(&settings, kind).map_err(|e| under_prefix(&e, kind))
}

fn header(plugins: &Plugins, worker: &Properties, connector: &Properties) -> Result<BoxHeaderConverter, ConfigErrors> {
    let (class, settings) = chosen(plugins, worker, connector, ConverterKind::Header)?;
    let Some(make) = class.header_converter else {
        let why = format!("`{}` does not convert headers", class.class);
        return Err(ConfigErrors::from(ConfigError::on(class_key(ConverterKind::Header), why)));
    };
    make(&settings).map_err(|e| under_prefix(&e, ConverterKind::Header))
}

fn only_headers(class: &ConverterClass, kind: ConverterKind) -> ConfigErrors {
    let why = format!("`{}` converts headers only, not a {}", class.class, kind.name());
    ConfigErrors::from(ConfigError::on(class_key(kind), why))
}

/// The class and its settings without the prefix.
fn chosen<'a>(
    plugins: &'a Plugins,
    worker: &Properties,
    connector: &Properties,
    kind: ConverterKind,
) -> Result<(&'a ConverterClass, Properties), ConfigErrors> {
    let key = class_key(kind);
    let owner = if connector.contains_key(key) { connector } else { worker };
    let fallback = (kind == ConverterKind::Header).then_some(DEFAULT_HEADER_CONVERTER);
    let Some(class) = owner.get(key).map(|c| c.trim()).or(fallback) else {
        let why = "neither the connector nor the worker names a converter class";
        return Err(ConfigErrors::from(ConfigError::on(key, why)));
    };
    let class = find_converter(plugins, class).map_err(|why| ConfigErrors::from(ConfigError::on(key, why)))?;
    require_version(owner, &format!("{key}.plugin.version"), (class.class, class.version))?;
    let prefix = format!("{key}.");
    let mut settings: Properties =
        owner.iter().filter_map(|(k, v)| Some((k.strip_prefix(&prefix)?.to_owned(), v.clone()))).collect();
    settings.insert("converter.type".to_owned(), kind.name().to_owned());
    Ok((class, settings))
}

/// Errors of a converter's own keys, under the names that the user wrote.
fn under_prefix(errors: &ConfigErrors, kind: ConverterKind) -> ConfigErrors {
    let mut prefixed = ConfigErrors::new();
    for error in errors.iter() {
        prefixed.push(match error.key() {
            Some(key) => ConfigError::on(format!("{}.{key}", class_key(kind)), error.message()),
            None => ConfigError::on(class_key(kind), error.message()),
        });
    }
    prefixed
}
