//! Runs a worker from its start to its end: connectors, signals, graceful stop, exit status.

use super::{
    EXIT_NO_CONNECTOR,
    connector_file::{ConnectorFile, InitialState, read_connector_file},
    signals::Signals,
};
use crate::{
    herder::{ConnectorSpec, StandaloneHerder},
    worker::{TaskMonitor, Worker},
};
use connect_sdk::task::ports::TargetState;
use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

/// How long threads that block (a read of standard input, say) may hold up the end of the process.
const BLOCKED_THREADS_TIMEOUT: Duration = Duration::from_millis(200);

/// What a mode of the worker wants to do beside running connectors.
pub(super) trait Watcher: Send {
    /// How often it is called; `None` for never.
    fn interval(&self) -> Option<Duration>;
    /// Called with the tasks that are there.
    fn look(&mut self, tasks: Vec<Arc<TaskMonitor>>) -> impl Future<Output = ()> + Send;
}

/// Looks at nothing.
#[derive(Debug)]
pub(super) struct NoWatcher;

impl Watcher for NoWatcher {
    fn interval(&self) -> Option<Duration> {
        None
    }

    async fn look(&mut self, _: Vec<Arc<TaskMonitor>>) {}
}

/// Starts a runtime for `run` and ends it without waiting for blocked threads.
pub(super) fn on_runtime(run: impl Future<Output = ExitCode>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("connect").build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "the system gives no threads");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(run);
    runtime.shutdown_timeout(BLOCKED_THREADS_TIMEOUT);
    code
}

/// Reads the connectors' files; one that cannot be read becomes a connector that fails.
pub(super) fn read_specs(files: &[PathBuf]) -> Vec<ConnectorSpec> {
    let mut specs: Vec<ConnectorSpec> = Vec::with_capacity(files.len());
    for file in files {
        let mut spec = match read_connector_file(file) {
            Ok(ConnectorFile { properties, initial_state }) => ConnectorSpec {
                label: properties.get("name").map_or_else(|| file.display().to_string(), |n| n.trim().to_owned()),
                properties: Ok(properties),
                target: match initial_state {
                    InitialState::Running => TargetState::Started,
                    InitialState::Paused => TargetState::Paused,
                    InitialState::Stopped => TargetState::Stopped,
                },
            },
            Err(why) => {
                ConnectorSpec { label: file.display().to_string(), properties: Err(why), target: TargetState::Stopped }
            }
        };
        if specs.iter().any(|other| other.label == spec.label) {
            spec.properties = Err(format!("another file defines a connector named `{}` already", spec.label));
        }
        specs.push(spec);
    }
    specs
}

/// Runs connectors until a signal; answers the exit status.
pub(super) async fn serve(
    worker: Worker,
    specs: Vec<ConnectorSpec>,
    mut signals: Signals,
    mut watcher: impl Watcher,
) -> ExitCode {
    let n_specs = specs.len();
    if n_specs == 0 {
        tracing::warn!("no connector file is given; there is nothing to run");
    }
    let mut herder = StandaloneHerder::start(Arc::new(worker), specs);
    let mut known = false;
    let signal = loop {
        let tick = async {
            match watcher.interval() {
                Some(interval) => tokio::time::sleep(interval).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            name = signals.next() => break Some(name),
            n = herder.started(), if !known => {
                known = true;
                tracing::info!(connectors = n_specs, started = n, "worker started");
                if n == 0 && n_specs > 0 {
                    break None;
                }
            }
            () = tick => watcher.look(herder.tasks()).await,
        }
    };
    let Some(name) = signal else {
        herder.stop().await;
        tracing::error!("no connector could be started; the worker ends");
        return ExitCode::from(EXIT_NO_CONNECTOR);
    };
    tracing::info!(signal = name, "stopping; a second signal ends the worker at once");
    signals.exit_at_next();
    let tasks = herder.tasks();
    herder.stop().await;
    watcher.look(tasks).await;
    tracing::info!("worker stopped");
    ExitCode::SUCCESS
}
