//! One connector of a worker: checked, given its tasks, refreshed, stopped.

use super::source;
use crate::{
    config::{
        ClientKind, ConnectorKind, Guarantee, OverridePolicy, check_connector, check_exactly_once, exactly_once_source,
        sink_guarantee, sink_isolation_level, source_guarantee, unknown_connector_keys,
    },
    id::ConnectorTaskId,
    plugins::find_connector,
    transforms::ChainConfig,
    worker::{
        SourceOffsets, TaskHandle, TaskMonitor, TaskSpec, Worker, check_overrides, ignored_settings, make_converters,
        stop_tasks,
    },
};
use connect_sdk::{
    config::ConfigErrors,
    erased::{DynSinkConnector, Properties},
    plugin::{ConnectorPlugin, Plugins, require_version},
    task::{Converters, TaskInfo, ports::TargetState},
};
use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, task::JoinHandle};

/// How long the end of a connector waits for offsets that are still to be copied to the worker's store.
const COPY_TIMEOUT: Duration = Duration::from_secs(5);

/// A connector as it was asked for.
#[derive(Debug, Clone)]
pub(crate) struct ConnectorSpec {
    /// How messages name it: its name, or its file if it has none.
    pub(crate) label: String,
    /// Its configuration, or why there is none.
    pub(crate) properties: Result<Properties, String>,
    /// The state it starts in.
    pub(crate) target: TargetState,
}

/// A connector that was started, successfully or not.
#[derive(Debug)]
pub(crate) struct RunningConnector {
    active: Arc<Active>,
    /// None until it is known whether it could be started.
    started: watch::Receiver<Option<bool>>,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
    graceful: Duration,
}

impl RunningConnector {
    /// Starts a connector in the background.
    pub(crate) fn start(worker: Arc<Worker>, spec: ConnectorSpec) -> Self {
        let graceful = worker.settings.graceful_timeout;
        let active = Arc::new(Active::default());
        let (started_tx, started) = watch::channel(None);
        let (stop, stopping) = watch::channel(false);
        let owned = Arc::clone(&active);
        let running = tokio::spawn(async move {
            let label = spec.label.clone();
            let end = run(worker, spec, &owned, &started_tx, stopping).await;
            if let Err(trace) = end {
                tracing::error!(connector = %label, error = %trace, "connector failed; it stays FAILED until it is restarted");
            }
            // Whatever happened, nobody waits for a start any longer.
            started_tx.send_if_modified(|s| s.is_none() && s.replace(false).is_none());
        });
        Self { active, started, stop, running, graceful }
    }

    /// Completes when it is known whether the connector could be started.
    pub(crate) async fn started(&mut self) -> bool {
        match self.started.wait_for(Option::is_some).await {
            Ok(known) => *known == Some(true),
            Err(_) => false,
        }
    }

    /// The monitors of its present tasks.
    pub(crate) fn tasks(&self) -> Vec<Arc<TaskMonitor>> {
        self.active.lock().iter().map(|t| Arc::clone(t.monitor())).collect()
    }

    /// Stops it and its tasks.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.running.await {
            tracing::error!(%error, "connector ended by a panic of the worker");
        }
        stop_tasks(self.active.take_tasks(), self.graceful).await;
        if let Some(offsets) = self.active.offsets.get() {
            offsets.store().flush(COPY_TIMEOUT).await;
        }
    }
}

/// Everything that a connector's tasks have in common.
pub(super) struct Setup {
    pub(super) worker: Arc<Worker>,
    pub(super) name: String,
    pub(super) properties: Properties,
    pub(super) tasks_max: usize,
    converters: Converters,
    chain: ChainConfig,
    target: TargetState,
    /// Whether its tasks write in transactions.
    pub(super) exactly_once: bool,
    guarantee: Arc<Guarantee>,
}

/// What is to be stopped.
#[derive(Debug, Default)]
pub(super) struct Active {
    tasks: Mutex<Vec<TaskHandle>>,
    /// Of a source; its tasks share them.
    pub(super) offsets: OnceLock<SourceOffsets>,
}

impl Active {
    fn lock(&self) -> MutexGuard<'_, Vec<TaskHandle>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the connector these tasks.
    pub(super) fn set_tasks(&self, tasks: Vec<TaskHandle>) {
        *self.lock() = tasks;
    }

    /// Takes its tasks away.
    pub(super) fn take_tasks(&self) -> Vec<TaskHandle> {
        std::mem::take(&mut *self.lock())
    }
}

async fn run(
    worker: Arc<Worker>,
    spec: ConnectorSpec,
    active: &Active,
    started: &watch::Sender<Option<bool>>,
    stopping: watch::Receiver<bool>,
) -> Result<(), String> {
    let raw = spec.properties?;
    let resolved = {
        let worker = Arc::clone(&worker);
        // Providers read files.
        let asked = tokio::task::spawn_blocking(move || worker.providers.resolve(&raw));
        asked.await.map_err(|e| e.to_string())?.map_err(|errors| listed(&errors))?
    };
    for warning in &resolved.warnings {
        tracing::warn!(connector = %spec.label, "{warning}");
    }
    let properties = resolved.properties.clone();
    let class = properties.get("connector.class").map_or("", |c| c.trim()).to_owned();
    if class.is_empty() {
        return Err("`connector.class` is missing: it names the connector to run".to_owned());
    }
    let plugin = find_connector(&worker.plugins, &class)?.clone();
    for notice in notices(&plugin, &worker.plugins, &properties) {
        tracing::warn!(connector = %spec.label, "{notice}");
    }
    let setup =
        check(&worker, &plugin, properties, (&spec.label, spec.target)).map_err(|e| listed(&resolved.hide_in(e)))?;
    tell_guarantee(&setup);
    if setup.target == TargetState::Stopped {
        started.send_replace(Some(true));
        return Ok(());
    }
    match plugin {
        ConnectorPlugin::Sink(sink) => {
            start_sink_tasks(&setup, &sink, active);
            started.send_replace(Some(true));
            Ok(())
        }
        ConnectorPlugin::Source(source) => source::run(&setup, &source, active, started, stopping).await,
    }
}

/// What is odd about a configuration and keeps nothing from starting: keys that nobody knows, with what was most likely
/// meant, and keys without effect.
pub(crate) fn notices(plugin: &ConnectorPlugin, plugins: &Plugins, properties: &Properties) -> Vec<String> {
    let (kind, own_keys) = match plugin {
        ConnectorPlugin::Source(source) => (ConnectorKind::Source, source.config_def()),
        ConnectorPlugin::Sink(sink) => (ConnectorKind::Sink, sink.config_def()),
    };
    let without_effect = ignored_settings(properties).into_iter().map(|key| {
        format!("`{key}` has no effect: the connector names no converter class of its own, so the worker's converter with the worker's settings is used")
    });
    let unknown = unknown_connector_keys(kind, &own_keys, properties).into_iter().map(|notice| notice.message);
    let chain = ChainConfig::from_properties(plugins, properties);
    let of_chain = chain.map(|chain| chain.unknown_keys(properties)).unwrap_or_default();
    without_effect.chain(unknown).chain(of_chain).collect()
}

/// One line of the log: what the connector guarantees, and why.
fn tell_guarantee(setup: &Setup) {
    let (connector, guarantee) = (&setup.name, &setup.guarantee);
    match &guarantee.weaker_because {
        None => tracing::info!(%connector, %guarantee, "connector guarantees"),
        Some(_) => tracing::warn!(%connector, %guarantee, "connector guarantees less than was asked for"),
    }
}

/// All errors of a configuration as one text.
fn listed(errors: &ConfigErrors) -> String {
    let mut lines: Vec<String> = Vec::with_capacity(errors.len());
    for line in errors.iter().map(|e| format!("\n  {e}")) {
        // Several definitions have the same key, and each finds the same mistake.
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    format!("its configuration has {} error(s):{}", lines.len(), lines.concat())
}

/// Checks everything that can be checked without starting anything; all errors at once.
fn check(
    worker: &Arc<Worker>,
    plugin: &ConnectorPlugin,
    properties: Properties,
    (label, target): (&str, TargetState),
) -> Result<Setup, ConfigErrors> {
    let kind = match plugin {
        ConnectorPlugin::Sink(_) => ConnectorKind::Sink,
        ConnectorPlugin::Source(_) => ConnectorKind::Source,
    };
    let mut errors = ConfigErrors::new();
    let mut note = |e: ConfigErrors| e.iter().for_each(|e| errors.push(e.clone()));
    let common = check_connector(kind, &properties).map_err(&mut note);
    let version = require_version(&properties, "connector.plugin.version", (plugin.class(), plugin.version()));
    let _noted = version.map_err(&mut note);
    let own = match plugin {
        ConnectorPlugin::Source(source) => {
            let viable = source.check(&properties);
            let (wrong, notices) =
                check_exactly_once(source.meta(), viable.as_ref().ok(), &properties, &worker.exactly_once);
            for notice in notices {
                tracing::warn!(connector = label, "{}", notice.message);
            }
            note(wrong);
            viable.map(|viable| source_guarantee(source.meta(), &viable, &properties, &worker.exactly_once))
        }
        ConnectorPlugin::Sink(sink) => {
            let isolation_level = sink_isolation_level(&properties, &worker.properties);
            sink.check(&properties).map(|()| sink_guarantee(&properties, isolation_level))
        }
    };
    let guarantee = own.map_err(&mut note);
    let converters = make_converters(&worker.plugins, &worker.properties, &properties).map_err(&mut note);
    let chain = ChainConfig::from_properties(&worker.plugins, &properties).map_err(&mut note);
    let overridden = overrides(&worker.override_policy, &properties);
    let overridden = overridden.into_result(()).map_err(&mut note);
    let (Ok(common), Ok(guarantee), Ok(converters), Ok(chain), Ok(()), true) =
        (common, guarantee, converters, chain, overridden, errors.is_empty())
    else {
        return Err(errors);
    };
    Ok(Setup {
        worker: Arc::clone(worker),
        exactly_once: kind == ConnectorKind::Source && exactly_once_source(&properties, &worker.exactly_once),
        guarantee: Arc::new(guarantee),
        name: common.name,
        tasks_max: common.tasks_max,
        properties,
        converters,
        chain,
        target,
    })
}

/// What the connector overrides in its clients though the worker's policy does not allow it, or with wrong values.
fn overrides(policy: &OverridePolicy, properties: &Properties) -> ConfigErrors {
    let refused = [ClientKind::Producer, ClientKind::Consumer, ClientKind::Admin]
        .into_iter()
        .flat_map(|client| policy.violations(client, properties.keys().map(String::as_str)));
    refused.chain(check_overrides(properties)).collect()
}

impl Setup {
    /// What one of its tasks is started with.
    pub(super) fn task(&self, index: usize, n_tasks: usize) -> TaskSpec<'_> {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let n_tasks = u32::try_from(n_tasks).unwrap_or(u32::MAX);
        TaskSpec {
            id: ConnectorTaskId { connector: self.name.clone(), task: index },
            info: TaskInfo { connector: self.name.clone(), index, n_tasks },
            properties: &self.properties,
            converters: &self.converters,
            chain: &self.chain,
            target: self.target,
            guarantee: &self.guarantee,
        }
    }
}

fn start_sink_tasks(setup: &Setup, sink: &Arc<dyn DynSinkConnector>, active: &Active) {
    let started = (0..setup.tasks_max).map(|i| setup.worker.start_sink_task(sink, setup.task(i, setup.tasks_max)));
    active.set_tasks(started.collect());
}
