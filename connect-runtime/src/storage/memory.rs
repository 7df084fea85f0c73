//! `MemoryOffsetStore`: offsets that end with the process, for `connect dev`.

use super::{OffsetBackingStore, OffsetEntries, OffsetKey};
use connect_sdk::{
    erased::BoxFuture,
    error::Result,
    source::{OffsetMap, PartitionMap},
};
use std::sync::{Mutex, PoisonError};

/// Source offsets in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryOffsetStore {
    entries: Mutex<OffsetEntries>,
}

impl OffsetBackingStore for MemoryOffsetStore {
    fn load<'a>(
        &'a self,
        connector: &'a str,
        partitions: Vec<PartitionMap>,
    ) -> BoxFuture<'a, Result<Vec<Option<OffsetMap>>>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = partitions.into_iter().map(|p| entries.get(&OffsetKey::new(connector, Some(p))).cloned()).collect();
        Box::pin(async { Ok(found) })
    }

    fn store<'a>(
        &'a self,
        connector: &'a str,
        offsets: Vec<(PartitionMap, Option<OffsetMap>)>,
    ) -> BoxFuture<'a, Result<()>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (partition, offset) in offsets {
            let key = OffsetKey::new(connector, Some(partition));
            match offset {
                Some(offset) => entries.insert(key, offset),
                None => entries.remove(&key),
            };
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
        assert_eq!(store.load("a", vec![p.clone()]).await.unwrap(), [Some(o)]);
        assert_eq!(store.load("b", vec![p.clone()]).await.unwrap(), [None]);
        store.store("a", vec![(p.clone(), None)]).await.unwrap();
        assert_eq!(store.load("a", vec![p]).await.unwrap(), [None]);
    }
}
