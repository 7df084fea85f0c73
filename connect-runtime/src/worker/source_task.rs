//! Starts source tasks: a producer, topics, offsets, the converters, and the loop.

use super::{Converters, TaskHandle, TaskMonitor, Worker, sink_task::end_state, target::target};
use crate::{id::ConnectorTaskId, status::State, storage::ConnectorOffsets};
use connect_sdk::{
    erased::{DynSourceConnector, Properties},
    error::{Result, TaskError},
    source::PartitionMap,
    task::{
        TaskInfo,
        ports::{Commands, TargetState, TaskObserver},
        source::{self, SourcePorts, SourceTask, SourceTaskConfig, SourceWorkerValues},
    },
};
use std::sync::Arc;

/// What a source task is started with.
#[derive(Debug, Clone)]
pub(crate) struct SourceTaskSpec<'a> {
    pub(crate) id: ConnectorTaskId,
    pub(crate) info: TaskInfo,
    pub(crate) properties: &'a Properties,
    pub(crate) partitions: &'a [PartitionMap],
    pub(crate) converters: &'a Converters,
    pub(crate) target: TargetState,
}

impl Worker {
    /// Starts a task of a source connector. What goes wrong from here on is the task's own failure.
    pub(crate) fn start_source_task(
        &self,
        connector: &Arc<dyn DynSourceConnector>,
        spec: &SourceTaskSpec<'_>,
    ) -> TaskHandle {
        let monitor = Arc::new(TaskMonitor::new(spec.id.clone()));
        let (setter, watch) = target(spec.target);
        let task = self.source_task(connector, spec, Box::new(watch), monitor.clone());
        TaskHandle::spawn(monitor, setter, async {
            match task {
                Ok(task) => end_state(task.run().await),
                Err(error) => State::Failed(error.chain()),
            }
        })
    }

    fn source_task(
        &self,
        connector: &Arc<dyn DynSourceConnector>,
        spec: &SourceTaskSpec<'_>,
        commands: Box<dyn Commands>,
        observer: Arc<dyn TaskObserver>,
    ) -> Result<SourceTask> {
        let worker = SourceWorkerValues {
            offset_flush_interval: self.settings.offset_flush_interval,
            offset_flush_timeout: self.settings.offset_flush_timeout,
            shutdown_graceful_timeout: self.settings.graceful_timeout,
        };
        let config = SourceTaskConfig::from_properties(spec.properties, worker).map_err(TaskError::fatal)?;
        let Converters { key, value, header } = spec.converters.clone();
        let ports = SourcePorts {
            clock: self.clock.clone(),
            producer: self.clients.producer(&spec.id, spec.properties)?,
            topics: self.clients.topics(&spec.id, spec.properties)?,
            offsets: Arc::new(ConnectorOffsets::new(Arc::clone(&self.offsets), &spec.id.connector)),
            commands,
            observer,
            converters: source::Converters { key, value, header },
            chain: None,
        };
        let (connector, properties) = (Arc::clone(connector), spec.properties.clone());
        Ok(SourceTask::new(spec.info.clone(), connector, properties, spec.partitions.to_vec(), config, ports))
    }
}
