//! What a worker needs of Kafka for its tasks: implemented on librdkafka, and by fakes in tests.

use super::fencing::Fencing;
use crate::{
    id::ConnectorTaskId,
    kafka::{LogClients, OffsetRecords, Subscription},
};
use connect_sdk::{
    erased::{BoxFuture, Properties},
    error::Result,
    task::ports::{DeadLetterTopic, RecordConsumer, RecordProducer, TopicEnsurer, TransactionalProducer},
};
use std::sync::Arc;

/// The clients of a connector's own offsets topic.
#[derive(Debug)]
pub(crate) struct OffsetClients {
    pub(crate) log: LogClients,
    /// The connector's producers write to the cluster that the worker's offsets are in.
    pub(crate) in_workers_cluster: bool,
}

/// Makes the Kafka clients of tasks, from the worker's configuration and the connector's overrides.
pub(crate) trait Clients: Fencing + Send + Sync + std::fmt::Debug {
    /// A source task's producer.
    ///
    /// # Errors
    /// Fatal: the client's configuration is wrong.
    fn producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Box<dyn RecordProducer>>;

    /// The producer of an exactly-once source task, which puts offsets into the transactions of their records.
    ///
    /// # Errors
    /// Fatal: the client's configuration is wrong.
    fn transactional_producer(
        &self,
        task: &ConnectorTaskId,
        connector: &Properties,
        offsets: Arc<dyn OffsetRecords>,
    ) -> Result<Box<dyn TransactionalProducer>>;

    /// The consumer of one of a sink connector's `n_tasks` tasks.
    ///
    /// # Errors
    /// Fatal: the client's configuration is wrong.
    fn consumer(
        &self,
        task: &ConnectorTaskId,
        n_tasks: u32,
        connector: &Properties,
        subscription: Subscription,
    ) -> Result<Box<dyn RecordConsumer>>;

    /// A source task's topics; it may not produce to `forbidden`.
    ///
    /// # Errors
    /// Fatal: the rules or the client's configuration are wrong.
    fn topics(
        &self,
        task: &ConnectorTaskId,
        connector: &Properties,
        forbidden: Option<&str>,
    ) -> Result<Arc<dyn TopicEnsurer>>;

    /// What reads and writes a connector's own offsets topic.
    ///
    /// # Errors
    /// Fatal: a client's configuration is wrong.
    fn offsets(&self, name: &str, connector: &Properties, exactly_once: bool) -> Result<OffsetClients>;

    /// The topic of a task's dead letter queue; nothing if the connector has none.
    ///
    /// # Errors
    /// Fatal: the settings or the client's configuration are wrong.
    fn dead_letter_topic(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Option<DeadLetterTopic>>;

    /// The producer of a sink task's dead letter queue.
    ///
    /// # Errors
    /// Fatal: the client's configuration is wrong.
    fn dead_letter_producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Box<dyn RecordProducer>>;

    /// Ends what tasks have shared. Called once, after all tasks have ended.
    fn close(&self) -> BoxFuture<'_, ()>;
}
