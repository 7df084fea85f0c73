//! `connect validate`: what a worker would say about the configurations of connectors, without starting anything.

use super::{EXIT_CONFIG, connector_file::read_connector_file, plugins::Format, print, standalone};
use crate::{
    config::{ConfigInfos, ConfigProviders, ExactlyOnceWorker, OverridePolicy, Validation, validate_connector},
    herder::notices,
    kafka::client_config_def,
    plugins::find_connector,
    transforms::ChainConfig,
    worker::{DEFAULT_HEADER_CONVERTER, check_overrides},
};
use connect_sdk::{
    config::{ConfigError, ConfigErrors},
    plugin::Plugins,
};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// What the worker contributes to the judgement.
struct Surroundings {
    providers: ConfigProviders,
    policy: OverridePolicy,
    exactly_once: ExactlyOnceWorker,
    /// By their keys.
    converters: BTreeMap<String, String>,
}

/// Judges each file and prints every error of each; exit status 1 if there is any.
pub(super) fn run(plugins: &Plugins, worker: Option<&Path>, files: &[PathBuf], format: Format) -> ExitCode {
    let surroundings = match surroundings(plugins, worker) {
        Ok(surroundings) => surroundings,
        Err(errors) => {
            errors.iter().for_each(|error| tracing::error!("{error}"));
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    let judged: Vec<(&PathBuf, Answer)> =
        files.iter().map(|file| (file, judge(plugins, &surroundings, file))).collect();
    let is_good = |of: &Answer| of.as_ref().is_ok_and(|judged| judged.infos.error_count == 0);
    let n_wrong = judged.iter().filter(|(_, of)| !is_good(of)).count();
    let text = match format {
        Format::Json => as_json(&judged),
        Format::Table | Format::Markdown => as_text(&judged),
    };
    let printed = print(&text);
    if n_wrong > 0 { ExitCode::from(EXIT_CONFIG) } else { printed }
}

fn surroundings(plugins: &Plugins, worker: Option<&Path>) -> Result<Surroundings, Vec<String>> {
    let Some(file) = worker else {
        return Ok(Surroundings {
            providers: ConfigProviders::default(),
            policy: OverridePolicy::default(),
            // Where offsets are kept is the worker's affair.
            exactly_once: ExactlyOnceWorker::Standalone { offsets_in_topic: true },
            converters: BTreeMap::from([("header.converter".to_owned(), DEFAULT_HEADER_CONVERTER.to_owned())]),
        });
    };
    let config = standalone::load(plugins, file)?;
    Ok(Surroundings {
        exactly_once: ExactlyOnceWorker::Standalone { offsets_in_topic: config.offset_storage_topic.is_some() },
        converters: BTreeMap::from([
            ("key.converter".to_owned(), config.worker.key_converter),
            ("value.converter".to_owned(), config.worker.value_converter),
            ("header.converter".to_owned(), config.worker.header_converter),
        ]),
        providers: config.worker.providers,
        policy: config.worker.override_policy,
    })
}

/// What is said of a file; an error is what keeps it from being judged at all.
type Answer = Result<Judgement, Vec<String>>;

struct Judgement {
    infos: ConfigInfos,
    /// What is odd, and keeps nothing from starting; no part of Kafka's answer.
    notices: Vec<String>,
    /// Errors that say more than Kafka's answer does, by their keys.
    details: ConfigErrors,
}

/// Judges one file.
fn judge(plugins: &Plugins, around: &Surroundings, file: &Path) -> Answer {
    let raw = read_connector_file(file).map_err(|why| vec![why])?.properties;
    let texts = |errors: ConfigErrors| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
    let resolved = around.providers.resolve(&raw).map_err(texts)?;
    let class = resolved.properties.get("connector.class").map_or("", |class| class.trim());
    if class.is_empty() {
        return Err(vec!["`connector.class` is missing: it names the connector to run".to_owned()]);
    }
    let connector = find_connector(plugins, class).map_err(|why| vec![why])?;
    let properties = resolved.properties.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
    let chain = ChainConfig::from_properties(plugins, &resolved.properties).err().unwrap_or_default();
    let mut infos = validate_connector(&Validation {
        plugins,
        connector,
        properties: &properties,
        policy: &around.policy,
        worker_group: None,
        exactly_once: &around.exactly_once,
        chain: &chain,
        clients: &check_overrides(&resolved.properties),
        client_def: client_config_def,
        worker_converters: &around.converters,
    });
    for value in infos.configs.iter_mut().filter_map(|config| config.value.as_mut()) {
        // What a provider has given may be a secret.
        let texts = value.value.iter_mut().chain(&mut value.errors);
        texts.for_each(|text| *text = resolved.hide(text));
    }
    let notices = notices(connector, plugins, &resolved.properties);
    let notices = resolved.warnings.iter().cloned().chain(notices.iter().map(|notice| resolved.hide(notice)));
    Ok(Judgement { infos, notices: notices.collect(), details: resolved.hide_in(chain) })
}

/// One object for one file, as the REST API answers; a list of them for more.
fn as_json(judged: &[(&PathBuf, Answer)]) -> String {
    let object = |(file, of): &(&PathBuf, Answer)| match of {
        Ok(judged) => serde_json::json!(judged.infos),
        Err(errors) => serde_json::json!({ "file": file, "error_count": errors.len(), "errors": errors }),
    };
    let json = match judged {
        [one] => object(one),
        many => many.iter().map(object).collect(),
    };
    format!("{json:#}\n")
}

fn as_text(judged: &[(&PathBuf, Answer)]) -> String {
    let mut out = String::new();
    for (file, of) in judged {
        let file = file.display();
        let (errors, notices): (Vec<String>, &[String]) = match of {
            Err(errors) => (errors.clone(), &[]),
            Ok(judged) => (judged.errors(), &judged.notices),
        };
        let _infallible = match errors.len() {
            0 => writeln!(out, "{file}: ok"),
            n => writeln!(out, "{file}: {n} error(s)"),
        };
        let warnings = notices.iter().map(|notice| format!("warning: {notice}"));
        for line in errors.into_iter().chain(warnings) {
            let _infallible = writeln!(out, "  {line}");
        }
    }
    out
}

impl Judgement {
    /// Every error, a line each, in the order of the keys.
    fn errors(&self) -> Vec<String> {
        let values = self.infos.configs.iter().filter_map(|config| config.value.as_ref());
        let line = |key: &str, error: &String| {
            let detail = self
                .details
                .iter()
                .find(|detail| detail.key() == Some(key) && detail.message().starts_with(error.trim_end_matches('.')));
            format!("`{key}`: {}", detail.map_or(error.as_str(), ConfigError::message))
        };
        values.flat_map(|value| value.errors.iter().map(|error| line(&value.name, error))).collect()
    }
}
