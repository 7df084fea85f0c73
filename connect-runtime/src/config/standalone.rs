//! The configuration of a standalone worker.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::classes::KnownClasses;
use super::key::key;
use super::worker::{Loading, Notice, WorkerConfig};
use super::worker_keys::worker_keys;
use connect_sdk::config::ConfigDef;
use connect_sdk::config::ConfigErrors;
use connect_sdk::config::ConfigType::String as Text;
use connect_sdk::config::Importance::High;
use connect_sdk::plugin::Plugins;

const OFFSET_FILE: &str = "offset.storage.file.filename";
/// What the transactional ids of a standalone worker begin with where `group.id` does not say it.
const GROUP_ID: &str = "connect-standalone";

/// The keys of a standalone worker, as Kafka Connect defines them.
#[must_use]
pub fn standalone_config_def(classes: &KnownClasses) -> ConfigDef {
    worker_keys(classes).define(key(OFFSET_FILE, Text, High, "The file that keeps the offsets of source connectors."))
}

/// What a standalone worker was told to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StandaloneConfig {
    /// What all kinds of workers have.
    pub worker: WorkerConfig,
    /// The file of offsets: the only store, or with a topic the fall-back for keys that the topic lacks.
    pub offset_storage_file: Option<PathBuf>,
    /// The topic of offsets.
    pub offset_storage_topic: Option<String>,
    /// `group.id`: what transactional ids of exactly-once sources begin with. Two workers with connectors of the same name
    /// need two of these.
    pub group_id: String,
}

impl StandaloneConfig {
    /// Reads the properties of a worker: puts in the values of configuration providers, checks every key, and gives
    /// what the operator should be told beside errors. `environment` is what `EnvVarConfigProvider` reads.
    ///
    /// Reads the files of configuration providers: to be called where blocking is allowed.
    ///
    /// # Errors
    /// Everything that is wrong; the notices are given in any case.
    pub fn load(
        properties: &BTreeMap<String, String>,
        plugins: &Plugins,
        environment: &BTreeMap<String, String>,
    ) -> (Result<Self, ConfigErrors>, Vec<Notice>) {
        let mut loading = Loading::new(properties, plugins, environment);
        // Offsets in a topic need no file.
        let with_topic = loading.is_set("offset.storage.topic");
        let file = key(OFFSET_FILE, Text, High, "The file that keeps the offsets of source connectors.");
        let file = if with_topic { file.null_default() } else { file };
        let def = worker_keys(&loading.classes).define(file);
        let config = loading.read(&def).map(|(worker, config)| Self {
            worker,
            offset_storage_file: config.string(OFFSET_FILE).filter(|text| !text.is_empty()).map(PathBuf::from),
            offset_storage_topic: config
                .string("offset.storage.topic")
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            group_id: config.string("group.id").filter(|text| !text.is_empty()).unwrap_or(GROUP_ID).to_owned(),
        });
        (config, loading.notices)
    }
}
