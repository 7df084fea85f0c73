//! Where source offsets are kept: a file, a compacted topic, or memory; for a connector with a topic of its own, there first.

mod connector;
mod copier;
mod file;
mod java_map;
mod kafka;
mod memory;

pub(crate) use connector::{ConnectorOffsets, OffsetsInTransaction};
pub(crate) use file::FileOffsetStore;
pub(crate) use kafka::{KafkaOffsetStore, OffsetTopic};
pub(crate) use memory::MemoryOffsetStore;

use connect_sdk::{
    erased::BoxFuture,
    error::Result,
    source::{OffsetMap, PartitionMap},
};
use std::collections::HashMap;

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

/// What a store knows of a source partition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stored {
    /// Its offset.
    Offset(OffsetMap),
    /// That it had one which was deleted: an older store must not bring it back.
    Deleted,
    /// Nothing.
    Unknown,
}

impl Stored {
    /// The offset, if there is one.
    pub(crate) fn offset(self) -> Option<OffsetMap> {
        match self {
            Self::Offset(offset) => Some(offset),
            Self::Deleted | Self::Unknown => None,
        }
    }
}

/// Fills what is unknown in `found` from an older store; what is deleted stays deleted.
async fn or_older(
    mut found: Vec<Stored>,
    older: &dyn OffsetBackingStore,
    connector: &str,
    partitions: Vec<PartitionMap>,
) -> Result<Vec<Stored>> {
    if found.contains(&Stored::Unknown) {
        let old = older.load(connector, partitions).await?;
        for (found, old) in found.iter_mut().zip(old).filter(|(found, _)| **found == Stored::Unknown) {
            *found = old;
        }
    }
    Ok(found)
}

/// The offsets of all source connectors of a worker. Keeps the behaviour of Kafka's `OffsetBackingStore`.
pub(crate) trait OffsetBackingStore: Send + Sync + std::fmt::Debug {
    /// What is stored of these partitions, in their order.
    ///
    /// # Errors
    /// Retriable while the store cannot be reached.
    fn load<'a>(&'a self, connector: &'a str, partitions: Vec<PartitionMap>) -> BoxFuture<'a, Result<Vec<Stored>>>;

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
