//! Two stores behind one connector, with a clock that is moved.

use super::{super::MemoryOffsetStore, *};
use crate::storage::Stored;
use connect_sdk::source::{FieldMap, FieldValue};
use std::sync::atomic::{AtomicU32, Ordering};

fn partition(name: &str) -> PartitionMap {
    FieldMap::new().with("p", FieldValue::Text(name.into()))
}

fn at(position: i64) -> OffsetMap {
    FieldMap::new().with("n", FieldValue::Int(position))
}

/// The worker's store: counts its writes, and fails as often as it is told to.
#[derive(Debug, Default)]
struct Watched {
    inner: MemoryOffsetStore,
    failures_left: AtomicU32,
    writes: AtomicU32,
}

impl Watched {
    fn failing(n: u32) -> Arc<Self> {
        Arc::new(Self { failures_left: AtomicU32::new(n), ..Self::default() })
    }

    fn n_writes(&self) -> u32 {
        self.writes.load(Ordering::Relaxed)
    }
}

impl OffsetBackingStore for Watched {
    fn load<'a>(&'a self, connector: &'a str, partitions: Vec<PartitionMap>) -> BoxFuture<'a, Result<Vec<Stored>>> {
        self.inner.load(connector, partitions)
    }

    fn store<'a>(
        &'a self,
        connector: &'a str,
        offsets: Vec<(PartitionMap, Option<OffsetMap>)>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let left = self.failures_left.load(Ordering::Relaxed);
            if left > 0 {
                self.failures_left.store(left - 1, Ordering::Relaxed);
                return Err(TaskError::retriable("the disk is full"));
            }
            self.writes.fetch_add(1, Ordering::Relaxed);
            self.inner.store(connector, offsets).await
        })
    }
}

struct Rig {
    own: Arc<MemoryOffsetStore>,
    worker: Arc<Watched>,
    offsets: ConnectorOffsets,
}

fn rig(failures: u32) -> Rig {
    let (own, worker) = (Arc::new(MemoryOffsetStore::default()), Watched::failing(failures));
    let offsets = ConnectorOffsets::copied("c", own.clone(), Some(worker.clone()));
    Rig { own, worker, offsets }
}

async fn load(rig: &Rig, name: &str) -> Option<OffsetMap> {
    rig.offsets.load(vec![partition(name)]).await.unwrap().remove(0)
}

async fn in_worker(rig: &Rig, name: &str) -> Stored {
    rig.worker.load("c", vec![partition(name)]).await.unwrap().remove(0)
}

#[tokio::test(start_paused = true)]
async fn the_own_store_wins_and_the_workers_answers_for_what_it_never_had() {
    let rig = rig(0);
    rig.worker.inner.store("c", vec![(partition("old"), Some(at(1))), (partition("both"), Some(at(2)))]).await.unwrap();
    rig.own.store("c", vec![(partition("both"), Some(at(7)))]).await.unwrap();
    let names = ["old", "both", "none"].map(partition).to_vec();
    assert_eq!(rig.offsets.load(names).await.unwrap(), [Some(at(1)), Some(at(7)), None]);
}

#[tokio::test(start_paused = true)]
async fn what_is_stored_is_copied_later_and_only_the_newest() {
    let rig = rig(0);
    rig.offsets.store(vec![(partition("a"), at(1))]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(in_worker(&rig, "a").await, Stored::Offset(at(1)));
    for n in 2..500 {
        rig.offsets.store(vec![(partition("a"), at(n)), (partition("b"), at(n))]).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(in_worker(&rig, "a").await, Stored::Offset(at(499)));
    assert_eq!(rig.worker.n_writes(), 2, "copies are gathered");
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_fails_is_tried_until_it_succeeds_and_nobody_notices() {
    let rig = rig(20);
    for n in 1..=3 {
        rig.offsets.store(vec![(partition("a"), at(n))]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert_eq!(in_worker(&rig, "a").await, Stored::Unknown);
    assert_eq!(load(&rig, "a").await, Some(at(3)));
    // Twenty failures, with waits that grow to a minute.
    tokio::time::sleep(Duration::from_secs(20 * 60)).await;
    assert_eq!(in_worker(&rig, "a").await, Stored::Offset(at(3)));
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_what_is_still_to_be_copied_but_not_for_ever() {
    let stopping = rig(3);
    stopping.offsets.store(vec![(partition("a"), at(5))]).await.unwrap();
    stopping.offsets.flush(Duration::from_secs(5)).await;
    assert_eq!(in_worker(&stopping, "a").await, Stored::Offset(at(5)));

    let hopeless = rig(u32::MAX);
    hopeless.offsets.store(vec![(partition("a"), at(5))]).await.unwrap();
    let start = tokio::time::Instant::now();
    hopeless.offsets.flush(Duration::from_secs(5)).await;
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    let idle = rig(0);
    idle.offsets.flush(Duration::from_secs(5)).await;
    assert_eq!(start.elapsed(), Duration::from_secs(5), "nothing to copy is not waited for");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_offset_is_gone_from_the_copy_first_and_stays_gone() {
    let rig = rig(0);
    rig.offsets.store(vec![(partition("a"), at(1))]).await.unwrap();
    rig.offsets.flush(Duration::from_secs(5)).await;
    rig.offsets.store(vec![(partition("a"), at(2))]).await.unwrap();
    rig.offsets.set(vec![(partition("a"), None), (partition("b"), Some(at(1)))]).await.unwrap();
    rig.offsets.flush(Duration::from_secs(5)).await;
    assert_eq!(in_worker(&rig, "a").await, Stored::Deleted, "what waited to be copied did not come back");
    assert_eq!(in_worker(&rig, "b").await, Stored::Offset(at(1)));
    assert_eq!(load(&rig, "a").await, None);

    rig.worker.failures_left.store(1, Ordering::Relaxed);
    let refused = rig.offsets.set(vec![(partition("b"), None)]).await;
    assert!(refused.is_err_and(|error| error.is_retriable()));
    assert_eq!(load(&rig, "b").await, Some(at(1)), "nothing is deleted before the copy is");
}
