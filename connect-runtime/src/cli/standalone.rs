//! `connect standalone`: a worker for itself, as Kafka's `connect-standalone`.

use super::{
    EXIT_CONFIG,
    serve::{NoWatcher, on_runtime, read_specs, serve},
    signals::Signals,
};
use crate::{
    clock::SystemClock,
    config::{ExactlyOnceWorker, Level, StandaloneConfig},
    kafka::{KafkaAdmin, client_ids},
    storage::{FileOffsetStore, KafkaOffsetStore, OffsetTopic},
    worker::{ClientBase, KafkaClients, TaskDefaults, Worker, WorkerOffsets, offset_topic},
};
use connect_sdk::{erased::Properties, java::properties, plugin::Plugins};
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// What internal clients and the shared producer of a standalone worker are named after, as in Kafka.
const WORKER_ID: &str = "connect";

pub(super) fn run(plugins: Plugins, worker_file: &Path, connector_files: &[PathBuf]) -> ExitCode {
    let config = match load(&plugins, worker_file) {
        Ok(config) => config,
        Err(errors) => {
            for error in &errors {
                tracing::error!(file = %worker_file.display(), "{error}");
            }
            tracing::error!(errors = errors.len(), "the worker's configuration is wrong; nothing was started");
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    let connectors = read_specs(connector_files);
    on_runtime(async {
        // Taken over before anything waits for a broker.
        let signals = match Signals::new() {
            Ok(signals) => signals,
            Err(error) => {
                tracing::error!(%error, "signals cannot be handled");
                return ExitCode::FAILURE;
            }
        };
        let mut signals = signals;
        let worker = tokio::select! {
            worker = start(config, plugins) => worker,
            name = signals.next() => {
                tracing::info!(signal = name, "stopped before the worker had started");
                return ExitCode::SUCCESS;
            }
        };
        match worker {
            Ok(worker) => serve(worker, connectors, signals, NoWatcher).await,
            Err(error) => {
                tracing::error!("{error}");
                ExitCode::from(EXIT_CONFIG)
            }
        }
    })
}

/// Reads the worker's file and logs what is worth knowing about it.
pub(super) fn load(plugins: &Plugins, file: &Path) -> Result<StandaloneConfig, Vec<String>> {
    let bytes =
        fs::read(file).map_err(|e| vec![format!("the worker's file `{}` cannot be read: {e}", file.display())])?;
    let properties =
        properties::load(&bytes).map_err(|e| vec![format!("the worker's file `{}`: {e}", file.display())])?;
    let environment: Properties =
        std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
    let (config, notices) = StandaloneConfig::load(&properties, plugins, &environment);
    for notice in notices {
        match notice.level {
            Level::Warn => tracing::warn!("{}", notice.message),
            Level::Info => tracing::info!("{}", notice.message),
        }
    }
    config.map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// Makes everything that tasks share. Waits for the broker only where offsets are kept in a topic.
///
/// # Errors
/// The offset store or a client cannot be made from this configuration.
async fn start(config: StandaloneConfig, plugins: Plugins) -> Result<Worker, String> {
    let common = config.worker;
    let base = ClientBase {
        bootstrap: common.bootstrap_servers.join(","),
        defaults: common.client_defaults,
        worker_id: WORKER_ID.to_owned(),
        topic_creation: common.topic_creation_enable,
        group_id: config.group_id,
        static_members: true,
        worker: common.properties,
    };
    let exactly_once = ExactlyOnceWorker::Standalone { offsets_in_topic: config.offset_storage_topic.is_some() };
    let admin_config = base.admin(&client_ids::shared_admin(WORKER_ID), None).map_err(|e| e.chain())?;
    let admin = Arc::new(KafkaAdmin::new(&admin_config).map_err(|e| e.to_string())?);
    let file = config.offset_storage_file.map(|f| FileOffsetStore::open(&f));
    let file = file.transpose().map_err(|e| e.to_string())?;
    let offsets = match (config.offset_storage_topic, file) {
        (Some(topic), file) => {
            let clients =
                base.log(&client_ids::offsets(WORKER_ID), KafkaAdmin::clone(&admin)).map_err(|e| e.chain())?;
            let topic = OffsetTopic { key: "offset.storage.topic", spec: offset_topic(&topic, &base.worker), clients };
            let topic = Arc::new(KafkaOffsetStore::open(topic, file).await.map_err(|e| e.chain())?);
            WorkerOffsets { store: topic.clone(), topic: Some(topic) }
        }
        (None, Some(file)) => WorkerOffsets { store: Arc::new(file), topic: None },
        (None, None) => {
            return Err("neither `offset.storage.file.filename` nor `offset.storage.topic` is set".to_owned());
        }
    };
    Ok(Worker {
        settings: TaskDefaults {
            offset_flush_interval: common.offset_flush_interval,
            offset_flush_timeout: common.offset_flush_timeout,
            graceful_timeout: common.task_shutdown_graceful_timeout,
        },
        providers: common.providers,
        override_policy: common.override_policy,
        exactly_once,
        properties: base.worker.clone(),
        clients: Arc::new(KafkaClients::new(base, admin)),
        plugins,
        offsets,
        clock: Arc::new(SystemClock::new()),
    })
}
