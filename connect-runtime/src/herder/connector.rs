//! One connector of a worker: checked, given its tasks, refreshed, stopped.

use super::task_configs::{group_partitions, regroup_partitions, same_groups};
use crate::{
    config::{
        ClientKind, ConnectorKind, Guarantee, OverridePolicy, check_connector, check_exactly_once, exactly_once_source,
        sink_guarantee, sink_isolation_level, source_guarantee, unknown_connector_keys,
    },
    id::ConnectorTaskId,
    plugins::find_connector,
    transforms::ChainConfig,
    worker::{TaskHandle, TaskMonitor, TaskSpec, Worker, ignored_settings, make_converters, stop_tasks},
};
use connect_sdk::{
    config::ConfigErrors,
    erased::{DynSinkConnector, DynSourceConnector, Properties},
    error::TaskError,
    plugin::ConnectorPlugin,
    source::PartitionMap,
    task::{Converters, TaskInfo, ports::TargetState},
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, task::JoinHandle};

/// First wait before `partitions` is called again after a retriable error; it doubles each time.
const PARTITIONS_RETRY_FIRST: Duration = Duration::from_millis(300);
/// Longest such wait.
const PARTITIONS_RETRY_MAX: Duration = Duration::from_secs(60);

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
    tasks: Arc<Mutex<Vec<TaskHandle>>>,
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
        let tasks = Arc::new(Mutex::new(Vec::new()));
        let (started_tx, started) = watch::channel(None);
        let (stop, stopping) = watch::channel(false);
        let owned = Arc::clone(&tasks);
        let running = tokio::spawn(async move {
            let label = spec.label.clone();
            let end = run(worker, spec, &owned, &started_tx, stopping).await;
            if let Err(trace) = end {
                tracing::error!(connector = %label, error = %trace, "connector failed; it stays FAILED until it is restarted");
            }
            // Whatever happened, nobody waits for a start any longer.
            started_tx.send_if_modified(|s| s.is_none() && s.replace(false).is_none());
        });
        Self { tasks, started, stop, running, graceful }
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
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.iter().map(|t| Arc::clone(t.monitor())).collect()
    }

    /// Stops it and its tasks.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.running.await {
            tracing::error!(%error, "connector ended by a panic of the worker");
        }
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        stop_tasks(tasks, self.graceful).await;
    }
}

/// Everything that a connector's tasks have in common.
struct Setup {
    worker: Arc<Worker>,
    name: String,
    properties: Properties,
    tasks_max: usize,
    converters: Converters,
    chain: ChainConfig,
    target: TargetState,
    /// Whether its tasks write in transactions.
    exactly_once: bool,
    guarantee: Arc<Guarantee>,
}

type Tasks = Mutex<Vec<TaskHandle>>;

async fn run(
    worker: Arc<Worker>,
    spec: ConnectorSpec,
    tasks: &Tasks,
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
    for key in ignored_settings(&properties) {
        tracing::warn!(connector = %spec.label, key, "has no effect: the connector names no converter class of its own, so the worker's converter with the worker's settings is used");
    }
    let (kind, own_keys) = match &plugin {
        ConnectorPlugin::Source(source) => (ConnectorKind::Source, source.config_def()),
        ConnectorPlugin::Sink(sink) => (ConnectorKind::Sink, sink.config_def()),
    };
    for notice in unknown_connector_keys(kind, &own_keys, &properties) {
        tracing::warn!(connector = %spec.label, "{}", notice.message);
    }
    let setup =
        check(&worker, &plugin, properties, (&spec.label, spec.target)).map_err(|e| listed(&resolved.hide_in(e)))?;
    for unknown in setup.chain.unknown_keys(&setup.properties) {
        tracing::warn!(connector = %spec.label, "{unknown}");
    }
    tell_guarantee(&setup);
    if setup.target == TargetState::Stopped {
        started.send_replace(Some(true));
        return Ok(());
    }
    match plugin {
        ConnectorPlugin::Sink(sink) => {
            start_sink_tasks(&setup, &sink, tasks);
            started.send_replace(Some(true));
            Ok(())
        }
        ConnectorPlugin::Source(_) if setup.exactly_once => {
            Err("exactly-once sources cannot be run yet; leave `exactly.once.source.support` out".to_owned())
        }
        ConnectorPlugin::Source(source) => run_source(&setup, &source, tasks, started, stopping).await,
    }
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

/// What the connector overrides in its clients though the worker's policy does not allow it.
fn overrides(policy: &OverridePolicy, properties: &Properties) -> ConfigErrors {
    [ClientKind::Producer, ClientKind::Consumer, ClientKind::Admin]
        .into_iter()
        .flat_map(|client| {
            let prefix = client.override_prefix();
            policy.violations(client, properties.keys().filter_map(move |k| k.strip_prefix(prefix)))
        })
        .collect()
}

impl Setup {
    fn task(&self, index: usize, n_tasks: usize) -> TaskSpec<'_> {
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

fn start_sink_tasks(setup: &Setup, sink: &Arc<dyn DynSinkConnector>, tasks: &Tasks) {
    let started = (0..setup.tasks_max).map(|i| setup.worker.start_sink_task(sink, setup.task(i, setup.tasks_max)));
    *tasks.lock().unwrap_or_else(PoisonError::into_inner) = started.collect();
}

async fn run_source(
    setup: &Setup,
    source: &Arc<dyn DynSourceConnector>,
    tasks: &Tasks,
    started: &watch::Sender<Option<bool>>,
    mut stopping: watch::Receiver<bool>,
) -> Result<(), String> {
    let Some(partitions) = discover(setup, source, &mut stopping).await? else { return Ok(()) };
    if partitions.is_empty() {
        tracing::warn!(connector = %setup.name, "connector named no source partitions; it has no tasks");
    }
    let mut groups = group_partitions(partitions, setup.tasks_max);
    start_source_tasks(setup, source, tasks, &groups);
    started.send_replace(Some(true));
    let refresh = refresh_interval(&setup.properties);
    while let Some(interval) = refresh {
        tokio::select! {
            _ = stopping.wait_for(|s| *s) => return Ok(()),
            () = tokio::time::sleep(interval) => {}
        }
        let Some(now) = discover(setup, source, &mut stopping).await? else { return Ok(()) };
        let changed = regroup_partitions(&groups, now, setup.tasks_max);
        if !same_groups(&groups, &changed) {
            tracing::info!(connector = %setup.name, tasks = changed.len(), "source partitions changed; starting the tasks anew");
            let old = std::mem::take(&mut *tasks.lock().unwrap_or_else(PoisonError::into_inner));
            stop_tasks(old, setup.worker.settings.graceful_timeout).await;
            groups = changed;
            start_source_tasks(setup, source, tasks, &groups);
        }
    }
    Ok(())
}

fn start_source_tasks(
    setup: &Setup,
    source: &Arc<dyn DynSourceConnector>,
    tasks: &Tasks,
    groups: &[Vec<PartitionMap>],
) {
    let started: Vec<TaskHandle> = groups
        .iter()
        .enumerate()
        .map(|(i, partitions)| setup.worker.start_source_task(source, setup.task(i, groups.len()), partitions))
        .collect();
    *tasks.lock().unwrap_or_else(PoisonError::into_inner) = started;
}

/// Asks the connector for its partitions until it answers; `None` if the worker stops meanwhile.
async fn discover(
    setup: &Setup,
    source: &Arc<dyn DynSourceConnector>,
    stopping: &mut watch::Receiver<bool>,
) -> Result<Option<Vec<PartitionMap>>, String> {
    let mut wait = PARTITIONS_RETRY_FIRST;
    loop {
        // In a task of its own, so that a panic of the connector is an error here.
        let asked = tokio::spawn(source.partitions(setup.properties.clone()));
        let answer = tokio::select! {
            _ = stopping.wait_for(|s| *s) => return Ok(None),
            answer = asked => answer,
        };
        let (error, after) = match answer {
            Ok(Ok(partitions)) => return Ok(Some(partitions)),
            Ok(Err(TaskError::Retriable { cause, after })) => (cause.to_string(), after),
            Ok(Err(fatal)) => return Err(format!("`partitions` failed: {}", fatal.chain())),
            Err(panic) => return Err(format!("`partitions` panicked: {panic}")),
        };
        let pause = after.unwrap_or(wait);
        let retry_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(connector = %setup.name, %error, retry_ms, "`partitions` failed; asking again");
        tokio::select! {
            _ = stopping.wait_for(|s| *s) => return Ok(None),
            () = tokio::time::sleep(pause) => {}
        }
        wait = (wait * 2).min(PARTITIONS_RETRY_MAX);
    }
}

/// `partitions.refresh.interval.ms`; checked before, so what cannot be read here is off.
fn refresh_interval(properties: &Properties) -> Option<Duration> {
    let (key, default) = connect_sdk::config::own_keys::PARTITIONS_REFRESH_INTERVAL_MS;
    let ms = properties.get(key).and_then(|v| v.trim().parse().ok()).unwrap_or(default);
    u64::try_from(ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}
