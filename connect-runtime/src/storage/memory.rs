//! `MemoryOffsetStore`: offsets that end with the process, for `connect dev`.

use super::{OffsetBackingStore, OffsetKey, Stored};
use connect_sdk::{
    erased::BoxFuture,
    error::Result,
    source::{OffsetMap, PartitionMap},
};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Source offsets in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryOffsetStore {
    /// None for an offset that was deleted.
    entries: Mutex<HashMap<OffsetKey, Option<OffsetMap>>>,
}

impl OffsetBackingStore for MemoryOffsetStore {
    fn load<'a>(&'a self, connector: &'a str, partitions: Vec<PartitionMap>) -> BoxFuture<'a, Result<Vec<Stored>>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = |partition| match entries.get(&OffsetKey::new(connector, Some(partition))) {
            Some(Some(offset)) => Stored::Offset(offset.clone()),
            Some(None) => Stored::Deleted,
            None => Stored::Unknown,
        };
        let found = partitions.into_iter().map(stored).collect();
        Box::pin(async { Ok(found) })
    }

    fn store<'a>(
        &'a self,
        connector: &'a str,
        offsets: Vec<(PartitionMap, Option<OffsetMap>)>,
    ) -> BoxFuture<'a, Result<()>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (partition, offset) in offsets {
            entries.insert(OffsetKey::new(connector, Some(partition)), offset);
        }
        Box::pin(async { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::source::{FieldMap, FieldValue};

    #[tokio::test]
    async fn offsets_are_kept_per_connector_and_can_be_deleted() {
        let store = MemoryOffsetStore::default();
        let (p, o) = (FieldMap::new().with("f", FieldValue::Null), FieldMap::new().with("n", FieldValue::Int(1)));
        store.store("a", vec![(p.clone(), Some(o.clone()))]).await.unwrap();
        assert_eq!(store.load("a", vec![p.clone()]).await.unwrap(), [Stored::Offset(o)]);
        assert_eq!(store.load("b", vec![p.clone()]).await.unwrap(), [Stored::Unknown]);
        store.store("a", vec![(p.clone(), None)]).await.unwrap();
        assert_eq!(store.load("a", vec![p]).await.unwrap(), [Stored::Deleted]);
    }
}
