//! `ConnectorOffsets`: the offsets of one source connector, in its own topic or in the worker's store.

use super::{KafkaOffsetStore, OffsetBackingStore, copier::Copier, or_older};
use crate::{crash_point, kafka::OffsetRecords};
use connect_sdk::{
    erased::BoxFuture,
    error::{Result, TaskError},
    source::{OffsetMap, PartitionMap},
    task::ports::OffsetStore,
};
use std::{sync::Arc, time::Duration};

/// The offsets of one connector: what its tasks are given. Keeps the behaviour of Kafka's `ConnectorOffsetBackingStore`.
///
/// A connector with a topic of its own writes there; the worker's store gets a copy in the background, and answers for
/// partitions that the topic has never had.
#[derive(Debug)]
pub(crate) struct ConnectorOffsets {
    connector: String,
    /// Where its offsets are written, and read first.
    store: Arc<dyn OffsetBackingStore>,
    /// The same, if it is a topic.
    topic: Option<Arc<KafkaOffsetStore>>,
    /// Where they are copied to, and read where the first place knows nothing.
    copies: Option<Copier>,
}

impl ConnectorOffsets {
    /// In the worker's store, whatever that is.
    pub(crate) fn shared(connector: &str, store: Arc<dyn OffsetBackingStore>) -> Self {
        Self { connector: connector.to_owned(), store, topic: None, copies: None }
    }

    /// In a topic; with `worker`, that is not where the worker's store is, and copies go there.
    ///
    /// Starts copying: to be called on the runtime.
    pub(crate) fn in_topic(
        connector: &str,
        topic: Arc<KafkaOffsetStore>,
        worker: Option<Arc<dyn OffsetBackingStore>>,
    ) -> Self {
        let store: Arc<dyn OffsetBackingStore> = topic.clone();
        Self { topic: Some(topic), ..Self::copied(connector, store, worker) }
    }

    fn copied(
        connector: &str,
        store: Arc<dyn OffsetBackingStore>,
        worker: Option<Arc<dyn OffsetBackingStore>>,
    ) -> Self {
        let copies = worker.map(|worker| Copier::start(connector, worker));
        Self { connector: connector.to_owned(), store, topic: None, copies }
    }

    /// The topic that the offsets are in, if they are in one.
    pub(crate) fn topic(&self) -> Option<&str> {
        self.topic.as_ref().map(|topic| topic.topic())
    }

    /// Stores offsets, and deletes those that are none.
    ///
    /// Deleted ones go from the copy first: it would answer for them once the topic no longer knows their keys (KAFKA-15018).
    async fn set(&self, offsets: Vec<(PartitionMap, Option<OffsetMap>)>) -> Result<()> {
        let Some(copies) = &self.copies else { return self.store.store(&self.connector, offsets).await };
        let deleted: Vec<PartitionMap> =
            offsets.iter().filter(|(_, offset)| offset.is_none()).map(|(partition, _)| partition.clone()).collect();
        if !deleted.is_empty() {
            copies.delete(deleted).await?;
        }
        let written = offsets.iter().filter_map(|(partition, offset)| Some((partition.clone(), offset.clone()?)));
        let written = written.collect();
        self.store.store(&self.connector, offsets).await?;
        copies.copy(written);
        Ok(())
    }

    /// Waits, at most this long, until what is still to be copied is.
    pub(crate) async fn flush(&self, timeout: Duration) {
        if let Some(copies) = &self.copies {
            copies.flush(timeout).await;
        }
    }
}

impl OffsetStore for ConnectorOffsets {
    fn load(&self, partitions: Vec<PartitionMap>) -> BoxFuture<'_, Result<Vec<Option<OffsetMap>>>> {
        Box::pin(async move {
            let found = self.store.load(&self.connector, partitions.clone()).await?;
            let found = match &self.copies {
                Some(copies) => or_older(found, &**copies.to(), &self.connector, partitions).await?,
                None => found,
            };
            Ok(found.into_iter().map(super::Stored::offset).collect())
        })
    }

    fn store(&self, offsets: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            crash_point::reached("before-store");
            self.set(offsets.into_iter().map(|(partition, offset)| (partition, Some(offset))).collect()).await?;
            crash_point::reached("after-store");
            Ok(())
        })
    }
}

/// The offsets of a connector as its transactional producers write them.
#[derive(Debug)]
pub(crate) struct OffsetsInTransaction {
    offsets: Arc<ConnectorOffsets>,
    topic: Arc<KafkaOffsetStore>,
}

impl OffsetsInTransaction {
    /// # Errors
    /// Fatal: the offsets are not in a topic.
    pub(crate) fn new(offsets: &Arc<ConnectorOffsets>) -> Result<Self> {
        let topic = offsets.topic.clone().ok_or_else(|| {
            TaskError::fatal(
                "offsets of an exactly-once source must be in a topic, but the worker keeps them elsewhere",
            )
        })?;
        Ok(Self { offsets: Arc::clone(offsets), topic })
    }
}

impl OffsetRecords for OffsetsInTransaction {
    fn topic(&self) -> &str {
        self.topic.topic()
    }

    fn records(&self, offsets: &[(PartitionMap, OffsetMap)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.topic.records(&self.offsets.connector, offsets)
    }

    fn committed(&self, offsets: Vec<(PartitionMap, OffsetMap)>) {
        if let Some(copies) = &self.offsets.copies {
            copies.copy(offsets);
        }
    }
}

#[cfg(test)]
mod tests;
