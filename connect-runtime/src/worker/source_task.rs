//! Starts source tasks: a producer, topics, offsets, the converters, and the loop.

use super::{TaskHandle, TaskMonitor, TaskSpec, Worker, target::target};
use crate::storage::{ConnectorOffsets, OffsetsInTransaction};
use connect_sdk::{
    erased::DynSourceConnector,
    error::{Result, TaskError},
    source::PartitionMap,
    task::{
        ports::{Commands, DeadLetterTopic, TaskObserver},
        source::{SourcePorts, SourceProducer, SourceTask, SourceTaskConfig, SourceWorkerValues},
    },
};
use std::sync::Arc;

/// The offsets of a source connector, and what its tasks do with them.
#[derive(Debug, Clone)]
pub(crate) enum SourceOffsets {
    /// They are stored after their records are acknowledged.
    Stored(Arc<ConnectorOffsets>),
    /// They are committed together with their records.
    InTransaction(Arc<ConnectorOffsets>),
}

impl SourceOffsets {
    /// Where they are.
    pub(crate) fn store(&self) -> &Arc<ConnectorOffsets> {
        let (Self::Stored(offsets) | Self::InTransaction(offsets)) = self;
        offsets
    }
}

impl Worker {
    /// Starts a task of a source connector. What goes wrong from here on is the task's own failure.
    pub(crate) fn start_source_task(
        &self,
        connector: &Arc<dyn DynSourceConnector>,
        spec: TaskSpec<'_>,
        partitions: &[PartitionMap],
        offsets: &SourceOffsets,
    ) -> TaskHandle {
        let monitor = Arc::new(TaskMonitor::new(spec.id.clone(), Arc::clone(spec.guarantee)));
        let (setter, watch) = target(spec.target);
        let task = self.source_task(connector, spec, (partitions, offsets), Box::new(watch), monitor.clone());
        TaskHandle::spawn(monitor, setter, task.map(SourceTask::run))
    }

    fn source_task(
        &self,
        connector: &Arc<dyn DynSourceConnector>,
        spec: TaskSpec<'_>,
        (partitions, offsets): (&[PartitionMap], &SourceOffsets),
        commands: Box<dyn Commands>,
        observer: Arc<dyn TaskObserver>,
    ) -> Result<SourceTask> {
        let worker = SourceWorkerValues {
            offset_flush_interval: self.settings.offset_flush_interval,
            offset_flush_timeout: self.settings.offset_flush_timeout,
            shutdown_graceful_timeout: self.settings.graceful_timeout,
        };
        let config = SourceTaskConfig::from_properties(spec.properties, worker).map_err(TaskError::fatal)?;
        let (producer, forbidden) = match offsets {
            SourceOffsets::Stored(_) => {
                (SourceProducer::AtLeastOnce(self.clients.producer(&spec.id, spec.properties)?), None)
            }
            SourceOffsets::InTransaction(offsets) => {
                let records = Arc::new(OffsetsInTransaction::new(offsets)?);
                let producer = self.clients.transactional_producer(&spec.id, spec.properties, records)?;
                (SourceProducer::ExactlyOnce(producer), offsets.topic())
            }
        };
        let dead_letters = self.clients.dead_letter_topic(&spec.id, spec.properties)?;
        let is_forbidden = |letters: &DeadLetterTopic| forbidden.is_some_and(|topic| *topic == *letters.name);
        if dead_letters.as_ref().is_some_and(is_forbidden) {
            return Err(TaskError::fatal(
                "`errors.deadletterqueue.topic.name` is the topic of the task's own offsets, in which no record may be",
            ));
        }
        if dead_letters.is_some() && !config.errors.tolerate {
            tracing::warn!(
                connector = %spec.id.connector,
                task = spec.id.task,
                "`errors.deadletterqueue.topic.name` of a source has no effect while `errors.tolerance` is `none`"
            );
        }
        let ports = SourcePorts {
            clock: self.clock.clone(),
            producer,
            topics: self.clients.topics(&spec.id, spec.properties, forbidden)?,
            offsets: offsets.store().clone(),
            commands,
            observer,
            converters: spec.converters.clone(),
            chain: spec.chain.make().map_err(TaskError::fatal)?,
            dead_letters: dead_letters.filter(|_| config.errors.tolerate),
        };
        let (connector, properties) = (Arc::clone(connector), spec.properties.clone());
        Ok(SourceTask::new(spec.info, connector, properties, partitions.to_vec(), config, ports))
    }
}
