//! The Kafka clients of tasks, configured in Kafka's layers: worker, worker's prefix, connector's overrides.

use super::{
    clients::Clients,
    topics::{Creation, SourceTopics},
};
use crate::{
    config::{ClientDefaults, TopicCreationRules},
    id::ConnectorTaskId,
    kafka::{
        ClientConfig, ClientConfigBuilder, ClientKind, KafkaAdmin, LogClients, ProducerPool, Subscription,
        TaskConsumer, TopicAdmin, client_ids,
    },
};
use connect_sdk::{
    erased::{BoxFuture, Properties},
    error::{Result, TaskError},
    task::ports::{RecordConsumer, RecordProducer, TopicEnsurer},
};
use std::sync::Arc;

/// What the clients of all tasks have in common.
#[derive(Debug, Clone)]
pub(crate) struct ClientBase {
    /// The worker's properties.
    pub(crate) worker: Properties,
    /// `bootstrap.servers`.
    pub(crate) bootstrap: String,
    /// `client.defaults`.
    pub(crate) defaults: ClientDefaults,
    /// What the shared producer is named after.
    pub(crate) worker_id: String,
    /// `topic.creation.enable`.
    pub(crate) topic_creation: bool,
}

/// Clients on librdkafka.
pub(crate) struct KafkaClients {
    base: ClientBase,
    producers: ProducerPool,
    /// For connectors without admin settings of their own.
    admin: Arc<dyn TopicAdmin>,
}

impl std::fmt::Debug for KafkaClients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaClients").field("worker_id", &self.base.worker_id).finish_non_exhaustive()
    }
}

fn entries(properties: &Properties) -> impl Iterator<Item = (&str, &str)> {
    properties.iter().map(|(k, v)| (k.as_str(), v.as_str()))
}

fn has_prefix(properties: &Properties, prefix: &str) -> bool {
    properties.keys().any(|k| k.starts_with(prefix))
}

impl ClientBase {
    fn builder(&self, kind: ClientKind) -> ClientConfigBuilder {
        ClientConfig::builder(kind).defaults(self.defaults).set("bootstrap.servers", &self.bootstrap)
    }

    /// The configuration of an admin client, which has the worker's own settings below the others.
    pub(crate) fn admin(&self, client_id: &str, connector: Option<&Properties>) -> Result<ClientConfig> {
        let builder = self
            .builder(ClientKind::Admin)
            .originals(entries(&self.worker))
            .set("client.id", client_id)
            .prefixed("admin.", entries(&self.worker));
        build(match connector {
            Some(connector) => builder.prefixed("admin.override.", entries(connector)),
            None => builder,
        })
    }

    /// The clients of one of the worker's own topics.
    pub(crate) fn log(&self, client_id: &str, admin: KafkaAdmin) -> Result<LogClients> {
        let own = |kind| self.builder(kind).originals(entries(&self.worker)).set("client.id", client_id);
        Ok(LogClients {
            consumer: build(own(ClientKind::Consumer).set("isolation.level", "read_committed"))?,
            producer: build(own(ClientKind::Producer))?,
            pool: Arc::new(ProducerPool::new()),
            admin,
        })
    }

    fn producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<ClientConfig> {
        // Tasks with equal settings share a client; one with overrides has its own, under Kafka's name.
        let client_id = if has_prefix(connector, "producer.override.") {
            client_ids::producer(&task.connector, task.task)
        } else {
            client_ids::shared_producer(&self.worker_id)
        };
        build(
            self.builder(ClientKind::Producer)
                .set("client.id", client_id)
                .prefixed("producer.", entries(&self.worker))
                .prefixed("producer.override.", entries(connector)),
        )
    }

    fn consumer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<ClientConfig> {
        build(
            self.builder(ClientKind::Consumer)
                .set("group.id", client_ids::consumer_group(&task.connector))
                .set("client.id", client_ids::consumer(&task.connector, task.task))
                .prefixed("consumer.", entries(&self.worker))
                .prefixed("consumer.override.", entries(connector)),
        )
    }
}

/// Finishes a configuration; what is odd about it is logged.
fn build(builder: ClientConfigBuilder) -> Result<ClientConfig> {
    let (config, warnings) = builder.build().map_err(TaskError::fatal)?;
    for warning in warnings {
        tracing::warn!(client = config.client_id(), "{warning}");
    }
    Ok(config)
}

impl KafkaClients {
    pub(crate) fn new(base: ClientBase, admin: Arc<dyn TopicAdmin>) -> Self {
        Self { base, producers: ProducerPool::new(), admin }
    }
}

impl Clients for KafkaClients {
    fn producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Box<dyn RecordProducer>> {
        let config = self.base.producer(task, connector)?;
        Ok(Box::new(self.producers.producer(&config)?))
    }

    fn consumer(
        &self,
        task: &ConnectorTaskId,
        connector: &Properties,
        subscription: Subscription,
    ) -> Result<Box<dyn RecordConsumer>> {
        let config = self.base.consumer(task, connector)?;
        Ok(Box::new(TaskConsumer::start(&config, subscription)?))
    }

    fn topics(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Arc<dyn TopicEnsurer>> {
        let request_bytes_max = self.base.producer(task, connector)?.max_request_size();
        let creation = match (self.base.topic_creation, TopicCreationRules::from_properties(connector)?) {
            (false, _) => Creation::LeftToBroker,
            (true, Some(rules)) => Creation::ByRules(Box::new(rules)),
            (true, None) => Creation::ByBrokerDefaults,
        };
        let admin = if has_prefix(connector, "admin.override.") {
            let config = self.base.admin(&client_ids::admin(&task.connector, task.task), Some(connector))?;
            Arc::new(KafkaAdmin::new(&config)?)
        } else {
            Arc::clone(&self.admin)
        };
        Ok(Arc::new(SourceTopics::new(admin, creation, request_bytes_max)))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        // Every producer ends with its last task.
        Box::pin(async {})
    }
}
