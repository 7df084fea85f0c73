//! Where source offsets are kept: a file, a compacted topic, or memory.

mod file;
mod java_map;
mod kafka;
mod memory;

pub(crate) use file::FileOffsetStore;
pub(crate) use kafka::{KafkaOffsetStore, OffsetTopic};
pub(crate) use memory::MemoryOffsetStore;

use crate::crash_point;
use connect_sdk::{
    erased::BoxFuture,
    error::Result,
    source::{OffsetMap, PartitionMap},
    task::ports::OffsetStore,
};
use std::{collections::HashMap, sync::Arc};

/// Whose offset it is: matched by meaning, not by bytes, since Java writes maps in hash order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OffsetKey {
    /// The connector's name.
    pub(crate) connector: String,
    /// The source partition; Java allows none.
    pub(crate) partition: Option<PartitionMap>,
}

impl OffsetKey {
    pub(crate) fn new(connector: &str, partition: Option<PartitionMap>) -> Self {
        Self { connector: connector.to_owned(), partition }
    }
}

/// Everything that is stored.
pub(crate) type OffsetEntries = HashMap<OffsetKey, OffsetMap>;

/// The offsets of all source connectors of a worker. Keeps the behaviour of Kafka's `OffsetBackingStore`.
pub(crate) trait OffsetBackingStore: Send + Sync + std::fmt::Debug {
    /// The stored offsets of these partitions, in their order.
    ///
    /// # Errors
    /// Retriable while the store cannot be reached.
    fn load<'a>(
        &'a self,
        connector: &'a str,
        partitions: Vec<PartitionMap>,
    ) -> BoxFuture<'a, Result<Vec<Option<OffsetMap>>>>;

    /// Stores offsets durably; `None` deletes one.
    ///
    /// # Errors
    /// Retriable: nothing, some or all of them may be stored.
    fn store<'a>(
        &'a self,
        connector: &'a str,
        offsets: Vec<(PartitionMap, Option<OffsetMap>)>,
    ) -> BoxFuture<'a, Result<()>>;
}

/// The part of a worker's store that belongs to one connector: what its tasks are given.
#[derive(Debug, Clone)]
pub(crate) struct ConnectorOffsets {
    store: Arc<dyn OffsetBackingStore>,
    connector: String,
}

impl ConnectorOffsets {
    pub(crate) fn new(store: Arc<dyn OffsetBackingStore>, connector: &str) -> Self {
        Self { store, connector: connector.to_owned() }
    }
}

impl OffsetStore for ConnectorOffsets {
    fn load(&self, partitions: Vec<PartitionMap>) -> BoxFuture<'_, Result<Vec<Option<OffsetMap>>>> {
        self.store.load(&self.connector, partitions)
    }

    fn store(&self, offsets: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            crash_point::reached("before-store");
            let offsets = offsets.into_iter().map(|(p, o)| (p, Some(o))).collect();
            self.store.store(&self.connector, offsets).await?;
            crash_point::reached("after-store");
            Ok(())
        })
    }
}
