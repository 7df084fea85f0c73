//! The worker: starts tasks, gives them what they need, and stops them in time.

mod clients;
mod converters;
mod fencing;
mod kafka_clients;
mod monitor;
mod offsets;
mod sink_task;
mod source_task;
mod target;
mod topics;

pub(crate) use clients::{Clients, OffsetClients};
pub(crate) use converters::{DEFAULT_HEADER_CONVERTER, ignored_settings, make_converters};
pub(crate) use fencing::{Fencing, KnownIds, fence_tasks};
pub(crate) use kafka_clients::{ClientBase, KafkaClients, check_overrides};
pub(crate) use monitor::{TaskMonitor, Totals};
pub(crate) use offsets::{WorkerOffsets, offset_topic};
pub(crate) use source_task::SourceOffsets;
pub(crate) use target::TargetSetter;

use crate::{
    clock::SystemClock,
    config::{ConfigProviders, ExactlyOnceWorker, Guarantee, OverridePolicy},
    id::ConnectorTaskId,
    status::State,
    transforms::ChainConfig,
};
use connect_sdk::{
    erased::Properties,
    error::{Result, TaskError},
    plugin::Plugins,
    task::{Converters, TaskEnd, TaskInfo, ports::TargetState},
};
use std::{sync::Arc, time::Duration};
use tokio::{task::JoinHandle, time::Instant};

/// What all tasks of a worker share.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) plugins: Plugins,
    /// The worker's own properties, for converters and for defaults of connectors.
    pub(crate) properties: Properties,
    pub(crate) settings: TaskDefaults,
    /// Puts values into connectors' properties.
    pub(crate) providers: ConfigProviders,
    /// What connectors may override in their clients.
    pub(crate) override_policy: OverridePolicy,
    /// What it offers to exactly-once sources.
    pub(crate) exactly_once: ExactlyOnceWorker,
    pub(crate) clients: Arc<dyn Clients>,
    pub(crate) offsets: WorkerOffsets,
    pub(crate) clock: Arc<SystemClock>,
}

/// The worker's settings that tasks follow.
#[derive(Debug, Clone)]
pub(crate) struct TaskDefaults {
    /// `offset.flush.interval.ms`.
    pub(crate) offset_flush_interval: Duration,
    /// `offset.flush.timeout.ms`.
    pub(crate) offset_flush_timeout: Duration,
    /// `task.shutdown.graceful.timeout.ms`: one deadline for all tasks that are stopped together.
    pub(crate) graceful_timeout: Duration,
}

/// What a task is started with.
#[derive(Debug, Clone)]
pub(crate) struct TaskSpec<'a> {
    pub(crate) id: ConnectorTaskId,
    pub(crate) info: TaskInfo,
    pub(crate) properties: &'a Properties,
    pub(crate) converters: &'a Converters,
    pub(crate) chain: &'a ChainConfig,
    pub(crate) target: TargetState,
    pub(crate) guarantee: &'a Arc<Guarantee>,
}

/// A task that was started.
#[derive(Debug)]
pub(crate) struct TaskHandle {
    monitor: Arc<TaskMonitor>,
    target: TargetSetter,
    running: JoinHandle<()>,
}

impl TaskHandle {
    /// Runs a task in the background, or notes why it could not be made.
    fn spawn(
        monitor: Arc<TaskMonitor>,
        target: TargetSetter,
        run: Result<impl Future<Output = TaskEnd> + Send + 'static>,
    ) -> Self {
        let watched = Arc::clone(&monitor);
        let running = tokio::spawn(async move {
            let end = match run {
                Ok(run) => run.await,
                Err(error) => TaskEnd::Failed(error),
            };
            watched.set_state(match end {
                TaskEnd::Stopped => State::Unassigned,
                TaskEnd::Failed(error) => State::Failed(error.chain()),
            });
            watched.log_totals();
        });
        Self { monitor, target, running }
    }

    /// A task that was not started, for this reason.
    pub(crate) fn failed(spec: &TaskSpec<'_>, error: TaskError) -> Self {
        let monitor = Arc::new(TaskMonitor::new(spec.id.clone(), Arc::clone(spec.guarantee)));
        let (setter, _) = target::target(spec.target);
        Self::spawn(monitor, setter, Err::<std::future::Ready<TaskEnd>, _>(error))
    }

    /// What it does and has done.
    pub(crate) fn monitor(&self) -> &Arc<TaskMonitor> {
        &self.monitor
    }

    /// Wishes for another state.
    pub(crate) fn set_target(&self, state: TargetState) {
        self.target.set(state);
    }
}

/// Stops tasks together and waits for them until one common deadline; what is left then is cancelled.
pub(crate) async fn stop_tasks(tasks: Vec<TaskHandle>, graceful: Duration) {
    let deadline = Instant::now() + graceful;
    for task in &tasks {
        task.set_target(TargetState::Stopped);
    }
    for task in tasks {
        let id: &ConnectorTaskId = task.monitor.id();
        let mut running = task.running;
        match tokio::time::timeout_at(deadline, &mut running).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::error!(connector = %id.connector, task = id.task, %error, "task ended by a panic of the worker");
            }
            Err(_) => {
                running.abort();
                tracing::error!(
                    connector = %id.connector,
                    task = id.task,
                    timeout_ms = u64::try_from(graceful.as_millis()).unwrap_or(u64::MAX),
                    "task did not stop within `task.shutdown.graceful.timeout.ms` and was cancelled; its last offsets are not stored"
                );
            }
        }
    }
}

impl Worker {
    /// A connector's properties, with the worker's keys that its tasks follow too.
    fn with_worker_keys(&self, connector: &Properties) -> Properties {
        let ms = |d: Duration| d.as_millis().to_string();
        let mut all = connector.clone();
        all.insert("offset.flush.interval.ms".to_owned(), ms(self.settings.offset_flush_interval));
        all.insert("offset.flush.timeout.ms".to_owned(), ms(self.settings.offset_flush_timeout));
        all.insert("task.shutdown.graceful.timeout.ms".to_owned(), ms(self.settings.graceful_timeout));
        all
    }
}
