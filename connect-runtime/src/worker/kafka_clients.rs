//! The Kafka clients of tasks, configured in Kafka's layers: worker, worker's prefix, connector's overrides.

use super::{
    clients::{Clients, OffsetClients},
    fencing::{Fencing, KnownIds, id_prefix},
    topics::{Creation, SourceTopics},
};
use crate::{
    config::{ClientDefaults, DeadLetterSettings, TopicCreationRules},
    errors::DeadLetterTopics,
    id::ConnectorTaskId,
    kafka::{
        ClientConfig, ClientConfigBuilder, ClientKind, Cluster, KafkaAdmin, LogClients, OffsetRecords, ProducerPool,
        Subscription, TaskConsumer, TopicAdmin, TransactionalTaskProducer, client_ids, fence,
    },
};
use connect_sdk::{
    config::ConfigErrors,
    erased::{BoxFuture, Properties},
    error::{Result, TaskError},
    task::ports::{DeadLetterTopic, RecordConsumer, RecordProducer, TopicEnsurer, TransactionalProducer},
};
use std::{collections::BTreeSet, sync::Arc};

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
    /// `group.id`, with which transactional ids begin.
    pub(crate) group_id: String,
    /// Whether the consumers of sink tasks are static members of their groups.
    pub(crate) static_members: bool,
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
        self.producer_named(client_ids::producer(&task.connector, task.task), connector)
    }

    fn dead_letter_producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<ClientConfig> {
        self.producer_named(client_ids::dead_letter_producer(&task.connector, task.task), connector)
    }

    /// Tasks with equal settings share a client; one with overrides has its own, under Kafka's name for it.
    fn producer_named(&self, own_client_id: String, connector: &Properties) -> Result<ClientConfig> {
        let client_id = if has_prefix(connector, "producer.override.") {
            own_client_id
        } else {
            client_ids::shared_producer(&self.worker_id)
        };
        build(self.plain_producer(&client_id, connector))
    }

    fn plain_producer(&self, client_id: &str, connector: &Properties) -> ClientConfigBuilder {
        // Without transactions an id would only make the client refuse to send.
        let not_id = |(key, _): &(&str, &str)| !key.ends_with(".transactional.id");
        self.builder(ClientKind::Producer)
            .set("client.id", client_id)
            .prefixed("producer.", entries(&self.worker).filter(not_id))
            .prefixed("producer.override.", entries(connector).filter(not_id))
    }

    /// The producer of an exactly-once task; what it replaces of the connector's settings was said when these were checked.
    fn transactional(&self, client_id: &str, id: String, connector: &Properties) -> ClientConfigBuilder {
        const REPLACED: [&str; 2] = ["producer.override.transactional.id", "producer.override.enable.idempotence"];
        self.builder(ClientKind::Producer)
            .set("client.id", client_id)
            .prefixed("producer.", entries(&self.worker))
            .prefixed("producer.override.", entries(connector).filter(|(key, _)| !REPLACED.contains(key)))
            .transactional(id)
    }

    fn transactional_id(&self, connector: &str, task: u32) -> String {
        format!("{}{task}", id_prefix(&self.group_id, connector))
    }

    /// What reaches the cluster that a connector's transactions are in, as its producers do: the rights that these need are
    /// enough.
    fn fencing(&self, name: &str, connector: &Properties) -> Result<ClientConfig> {
        let builder = self.transactional(&client_ids::fencing(name), self.transactional_id(name, 0), connector);
        // What is odd about it is told by the tasks.
        builder.build().map(|(config, _)| config).map_err(TaskError::fatal)
    }

    /// The clients of a connector's own offsets topic.
    fn connector_log(&self, name: &str, connector: &Properties, exactly_once: bool) -> Result<LogClients> {
        const ISOLATION: (&str, &str) = ("isolation.level", "read_committed");
        let client_id = client_ids::connector_offsets(name);
        let consumer = self
            .builder(ClientKind::Consumer)
            .set("client.id", &client_id)
            .set(ISOLATION.0, ISOLATION.1)
            .prefixed("consumer.", entries(&self.worker))
            .prefixed("consumer.override.", entries(connector));
        Ok(LogClients {
            // Whether offsets are read as they were committed is the operator's choice only where nothing depends on it.
            consumer: build(if exactly_once { consumer.set(ISOLATION.0, ISOLATION.1) } else { consumer })?,
            producer: build(self.plain_producer(&client_id, connector))?,
            pool: Arc::new(ProducerPool::new()),
            admin: KafkaAdmin::new(&self.admin(&client_id, Some(connector))?)?,
        })
    }

    /// Whether a connector's producers write to the worker's own cluster, as far as its bootstrap servers tell.
    fn in_workers_cluster(&self, producer: &ClientConfig) -> bool {
        let set = |servers: &str| servers.split(',').map(|s| s.trim().to_owned()).collect::<BTreeSet<_>>();
        set(producer.bootstrap_servers()) == set(&self.bootstrap)
    }

    fn consumer(&self, task: &ConnectorTaskId, n_tasks: u32, connector: &Properties) -> Result<ClientConfig> {
        let id = client_ids::consumer(&task.connector, task.task);
        let mut builder = self
            .builder(ClientKind::Consumer)
            .set("group.id", client_ids::consumer_group(&task.connector))
            .set("client.id", &id)
            .prefixed("consumer.", entries(&self.worker))
            .prefixed("consumer.override.", entries(connector));
        if self.static_members {
            builder = builder.instance_id(&id);
        }
        let config = build(builder)?;
        match config.native("group.instance.id") {
            Some(given) if *given != id && n_tasks > 1 => Err(TaskError::fatal(format!(
                "`group.instance.id` is `{given}` for all {n_tasks} tasks of the connector, of which each would drive out the \
                 one before; leave it out, and each task has a name of its own, or set `tasks.max` to 1"
            ))),
            _ => Ok(config),
        }
    }
}

/// What is wrong with the settings that a connector overrides in its clients, all at once and before anything is started.
///
/// Judged for themselves: what the worker sets below them is judged with the worker.
pub(crate) fn check_overrides(connector: &Properties) -> ConfigErrors {
    let kinds = [
        (ClientKind::Producer, "producer.override."),
        (ClientKind::Consumer, "consumer.override."),
        (ClientKind::Admin, "admin.override."),
    ];
    let errors = kinds.into_iter().filter(|(_, prefix)| has_prefix(connector, prefix)).flat_map(|(kind, prefix)| {
        // Where brokers are is the worker's affair, unless the connector says so.
        let builder = ClientConfig::builder(kind).set("bootstrap.servers", "localhost:9092").set("group.id", "any");
        // That of a producer is replaced or left out, with a word about it.
        let given = entries(connector).filter(|(key, _)| !key.ends_with(".transactional.id"));
        builder.prefixed(prefix, given).build().err().unwrap_or_default()
    });
    errors.collect()
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

    /// The admin client of a task.
    fn admin(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Arc<dyn TopicAdmin>> {
        if !has_prefix(connector, "admin.override.") {
            return Ok(Arc::clone(&self.admin));
        }
        let config = self.base.admin(&client_ids::admin(&task.connector, task.task), Some(connector))?;
        Ok(Arc::new(KafkaAdmin::new(&config)?))
    }
}

impl Fencing for KafkaClients {
    fn transactional_id_prefix(&self, name: &str) -> String {
        id_prefix(&self.base.group_id, name)
    }

    fn transactional_ids<'a>(&'a self, name: &'a str, connector: &'a Properties) -> BoxFuture<'a, Result<KnownIds>> {
        Box::pin(async move {
            let mut cluster = match Cluster::new(&self.base.fencing(name, connector)?) {
                Ok(cluster) => cluster,
                // A login that only librdkafka knows.
                Err(error) => return Ok(KnownIds::Unlisted(error.to_string())),
            };
            match cluster.list_transactional_ids(&self.transactional_id_prefix(name)).await {
                Ok(ids) => Ok(KnownIds::Listed(ids.into_iter().map(|id| id.id).collect())),
                Err(error) if error.is_unsupported() => Ok(KnownIds::Unlisted(error.to_string())),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn fence<'a>(&'a self, name: &'a str, connector: &'a Properties, tasks: Vec<u32>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let config = self.base.fencing(name, connector)?;
            let ids = tasks.into_iter().map(|task| self.base.transactional_id(name, task)).collect();
            Ok(fence(&config, ids).await?)
        })
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
        n_tasks: u32,
        connector: &Properties,
        subscription: Subscription,
    ) -> Result<Box<dyn RecordConsumer>> {
        let config = self.base.consumer(task, n_tasks, connector)?;
        let consumer = TaskConsumer::start(&config, subscription)?;
        if self.base.static_members && config.native("group.instance.id").is_some() {
            consumer.tidy_group(&task.connector, task.task, n_tasks);
        }
        Ok(Box::new(consumer))
    }

    fn transactional_producer(
        &self,
        task: &ConnectorTaskId,
        connector: &Properties,
        offsets: Arc<dyn OffsetRecords>,
    ) -> Result<Box<dyn TransactionalProducer>> {
        let client_id = client_ids::producer(&task.connector, task.task);
        let id = self.base.transactional_id(&task.connector, task.task);
        let config = build(self.base.transactional(&client_id, id, connector))?;
        Ok(Box::new(TransactionalTaskProducer::start(&config, offsets)?))
    }

    fn topics(
        &self,
        task: &ConnectorTaskId,
        connector: &Properties,
        forbidden: Option<&str>,
    ) -> Result<Arc<dyn TopicEnsurer>> {
        let request_bytes_max = self.base.producer(task, connector)?.max_request_size();
        let creation = match (self.base.topic_creation, TopicCreationRules::from_properties(connector)?) {
            (false, _) => Creation::LeftToBroker,
            (true, Some(rules)) => Creation::ByRules(Box::new(rules)),
            (true, None) => Creation::ByBrokerDefaults,
        };
        Ok(Arc::new(SourceTopics::new(self.admin(task, connector)?, creation, request_bytes_max).forbid(forbidden)))
    }

    fn offsets(&self, name: &str, connector: &Properties, exactly_once: bool) -> Result<OffsetClients> {
        let log = self.base.connector_log(name, connector, exactly_once)?;
        Ok(OffsetClients { in_workers_cluster: self.base.in_workers_cluster(&log.producer), log })
    }

    fn dead_letter_topic(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Option<DeadLetterTopic>> {
        let settings = DeadLetterSettings::from_properties(connector).map_err(TaskError::fatal)?;
        let Some(DeadLetterSettings { topic, replication_factor, context_headers }) = settings else { return Ok(None) };
        // A source writes its dead letters with its own producer; one of a sink takes requests of the same size.
        let request_bytes_max = self.base.dead_letter_producer(task, connector)?.max_request_size();
        let topics = DeadLetterTopics::new(self.admin(task, connector)?, replication_factor, request_bytes_max);
        Ok(Some(DeadLetterTopic { name: topic.into(), context_headers, topics: Arc::new(topics) }))
    }

    fn dead_letter_producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Box<dyn RecordProducer>> {
        let config = self.base.dead_letter_producer(task, connector)?;
        Ok(Box::new(self.producers.producer(&config)?))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        // Every producer ends with its last task.
        Box::pin(async {})
    }
}

#[cfg(test)]
mod tests;
