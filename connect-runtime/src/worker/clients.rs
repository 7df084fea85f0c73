//! What a worker needs of Kafka for its tasks: implemented on librdkafka, and by fakes in tests.

use crate::{id::ConnectorTaskId, kafka::Subscription};
use connect_sdk::{
    erased::{BoxFuture, Properties},
    error::Result,
    task::ports::{RecordConsumer, RecordProducer, TopicEnsurer},
};
use std::sync::Arc;

/// Makes the Kafka clients of tasks, from the worker's configuration and the connector's overrides.
pub(crate) trait Clients: Send + Sync + std::fmt::Debug {
    /// A source task's producer.
    ///
    /// # Errors
    /// Fatal: the client's configuration is wrong.
    fn producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Box<dyn RecordProducer>>;

    /// A sink task's consumer.
    ///
    /// # Errors
    /// Fatal: the client's configuration is wrong.
    fn consumer(
        &self,
        task: &ConnectorTaskId,
        connector: &Properties,
        subscription: Subscription,
    ) -> Result<Box<dyn RecordConsumer>>;

    /// A source task's topics.
    ///
    /// # Errors
    /// Fatal: the rules or the client's configuration are wrong.
    fn topics(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Arc<dyn TopicEnsurer>>;

    /// Ends what tasks have shared. Called once, after all tasks have ended.
    fn close(&self) -> BoxFuture<'_, ()>;
}
