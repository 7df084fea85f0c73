//! `MemoryOffsets`: an offset store in memory that can fail, hang and take its time.

use super::VirtualClock;
use crate::{
    erased::BoxFuture,
    error::TaskError,
    source::{OffsetMap, PartitionMap},
    task::ports::{Clock, OffsetStore},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Offsets in memory. Clones are the same.
#[derive(Debug, Clone)]
pub struct MemoryOffsets {
    clock: VirtualClock,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    stored: HashMap<PartitionMap, OffsetMap>,
    n_calls: u64,
    failing_calls: u32,
    failing_loads: u32,
    hangs: bool,
    delay: Duration,
}

impl MemoryOffsets {
    /// Nothing is stored.
    #[must_use]
    pub fn new(clock: VirtualClock) -> Self {
        Self { clock, state: Arc::default() }
    }

    /// The stored offset of a partition.
    #[must_use]
    pub fn get(&self, partition: &PartitionMap) -> Option<OffsetMap> {
        self.lock().stored.get(partition).cloned()
    }

    /// Stores an offset behind the task's back.
    pub fn set(&self, partition: PartitionMap, offset: OffsetMap) {
        self.lock().stored.insert(partition, offset);
    }

    /// How many calls to store there were, failed ones too.
    #[must_use]
    pub fn n_calls(&self) -> u64 {
        self.lock().n_calls
    }

    /// The next `n` calls to store fail.
    pub fn fail_next(&self, n: u32) {
        self.lock().failing_calls = n;
    }

    /// The next `n` calls to load fail.
    pub fn fail_next_loads(&self, n: u32) {
        self.lock().failing_loads = n;
    }

    /// Calls to store never end while this is set.
    pub fn hang(&self, hangs: bool) {
        self.lock().hangs = hangs;
    }

    /// Calls to store take so long.
    pub fn delay(&self, delay: Duration) {
        self.lock().delay = delay;
    }

    /// True if nothing is to go wrong any more.
    #[must_use]
    pub fn works(&self) -> bool {
        let state = self.lock();
        state.failing_calls == 0 && state.failing_loads == 0 && !state.hangs
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OffsetStore for MemoryOffsets {
    fn load(&self, partitions: Vec<PartitionMap>) -> BoxFuture<'_, Result<Vec<Option<OffsetMap>>, TaskError>> {
        Box::pin(async move {
            let mut state = self.lock();
            if state.failing_loads > 0 {
                state.failing_loads -= 1;
                return Err(TaskError::retriable("the store cannot be reached"));
            }
            Ok(partitions.iter().map(|p| state.stored.get(p).cloned()).collect())
        })
    }

    fn store(&self, offsets: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<(), TaskError>> {
        Box::pin(async move {
            let (delay, hangs, fails) = {
                let mut state = self.lock();
                state.n_calls += 1;
                let fails = state.failing_calls > 0;
                state.failing_calls = state.failing_calls.saturating_sub(1);
                (state.delay, state.hangs, fails)
            };
            if hangs {
                std::future::pending::<()>().await;
            }
            if !delay.is_zero() {
                self.clock.sleep_until(self.clock.monotonic() + delay).await;
            }
            if fails {
                return Err(TaskError::retriable("the store is full"));
            }
            self.lock().stored.extend(offsets);
            Ok(())
        })
    }
}
