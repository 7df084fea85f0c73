//! Where the offsets of a source connector are: in the worker's store, or in a topic of its own.

use super::{Worker, clients::OffsetClients};
use crate::{
    kafka::TopicSpec,
    storage::{ConnectorOffsets, KafkaOffsetStore, OffsetBackingStore, OffsetTopic},
};
use connect_sdk::{erased::Properties, error::Result};
use std::sync::Arc;

/// Kafka's default of `offset.storage.partitions`.
const OFFSET_PARTITIONS: i32 = 25;

/// The worker's offset store.
#[derive(Debug, Clone)]
pub(crate) struct WorkerOffsets {
    /// Whatever it is.
    pub(crate) store: Arc<dyn OffsetBackingStore>,
    /// The same, if it is a topic.
    pub(crate) topic: Option<Arc<KafkaOffsetStore>>,
}

impl Worker {
    /// Opens the offsets of a source connector. Where they are in a topic of its own, that is made if it is missing; a
    /// broker is waited for as long as it takes.
    ///
    /// As `Worker.offsetStoreForExactlyOnceSourceTask` and `offsetStoreForRegularSourceTask` in Kafka, but in standalone too.
    ///
    /// # Errors
    /// Fatal: the topic cannot be made or read, or a client's configuration is wrong.
    ///
    /// # Cancel safety
    /// Dropping the future ends the waiting.
    pub(crate) async fn connector_offsets(
        &self,
        connector: &str,
        properties: &Properties,
        exactly_once: bool,
    ) -> Result<ConnectorOffsets> {
        let WorkerOffsets { store, topic } = &self.offsets;
        let own = properties.get("offsets.storage.topic").map(|name| name.trim()).filter(|name| !name.is_empty());
        let workers = topic.as_ref().map(|topic| topic.topic());
        let Some(name) = own.or(workers.filter(|_| exactly_once)) else {
            return Ok(ConnectorOffsets::shared(connector, Arc::clone(store)));
        };
        let OffsetClients { log, in_workers_cluster } = self.clients.offsets(connector, properties, exactly_once)?;
        if let Some(topic) = topic.as_ref().filter(|topic| in_workers_cluster && topic.topic() == name) {
            return Ok(ConnectorOffsets::in_topic(connector, Arc::clone(topic), None));
        }
        let key = if own.is_some() { "offsets.storage.topic" } else { "offset.storage.topic" };
        let topic = OffsetTopic { key, spec: offset_topic(name, &self.properties), clients: log };
        let topic = Arc::new(KafkaOffsetStore::open(topic, None).await?);
        Ok(ConnectorOffsets::in_topic(connector, topic, Some(Arc::clone(store))))
    }
}

/// What an offsets topic is made with where it is missing. Unlike in a distributed worker, the broker decides what is not
/// set: a single broker is nothing unusual here.
pub(crate) fn offset_topic(name: &str, worker: &Properties) -> TopicSpec {
    const PREFIX: &str = "offset.storage.";
    const NO_TOPIC_CONFIGS: [&str; 4] = ["topic", "partitions", "replication.factor", "file.filename"];
    // Checked before: what cannot be read is not set. -1 is the broker's default.
    let number = |key: &str| {
        let text = worker.get(&format!("{PREFIX}{key}"))?;
        text.trim().parse::<i32>().ok().filter(|n| *n > 0)
    };
    let config = |(key, value): (&String, &String)| {
        let key = key.strip_prefix(PREFIX).filter(|key| !NO_TOPIC_CONFIGS.contains(key))?;
        Some((key.to_owned(), value.clone()))
    };
    TopicSpec {
        name: name.to_owned(),
        partitions: Some(number("partitions").unwrap_or(OFFSET_PARTITIONS)),
        replication_factor: number("replication.factor"),
        configs: worker.iter().filter_map(config).collect(),
    }
}
