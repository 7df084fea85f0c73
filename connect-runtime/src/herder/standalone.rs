//! The herder of a standalone worker: runs the connectors of its command line, each for itself.

use super::connector::{ConnectorSpec, RunningConnector};
use crate::worker::{TaskMonitor, Worker};
use std::sync::Arc;

/// The connectors of a standalone worker.
#[derive(Debug)]
pub(crate) struct StandaloneHerder {
    worker: Arc<Worker>,
    connectors: Vec<RunningConnector>,
}

impl StandaloneHerder {
    /// Starts every connector. One that cannot be started is FAILED, and the others run.
    pub(crate) fn start(worker: Arc<Worker>, specs: Vec<ConnectorSpec>) -> Self {
        let connectors = specs.into_iter().map(|spec| RunningConnector::start(Arc::clone(&worker), spec)).collect();
        Self { worker, connectors }
    }

    /// Completes when it is known of every connector whether it could be started; answers how many could.
    pub(crate) async fn started(&mut self) -> usize {
        let mut n = 0;
        for connector in &mut self.connectors {
            n += usize::from(connector.started().await);
        }
        n
    }

    /// The monitors of all tasks that are there now.
    pub(crate) fn tasks(&self) -> Vec<Arc<TaskMonitor>> {
        self.connectors.iter().flat_map(RunningConnector::tasks).collect()
    }

    /// Stops all connectors together, within `task.shutdown.graceful.timeout.ms`, and then what they shared.
    pub(crate) async fn stop(self) {
        let stopping: Vec<_> = self.connectors.into_iter().map(|c| tokio::spawn(c.stop())).collect();
        for stopped in stopping {
            if let Err(error) = stopped.await {
                tracing::error!(%error, "connector did not stop");
            }
        }
        self.worker.clients.close().await;
    }
}
