//! `Copier`: brings offsets that were stored in one place to another, in the background, for as long as it takes.

use super::OffsetBackingStore;
use connect_sdk::{
    error::{Result, TaskError},
    source::{OffsetMap, PartitionMap},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};

/// Pause after a copy: what comes meanwhile is copied together, the newest offset of each partition only.
const COPY_PAUSE: Duration = Duration::from_secs(1);
/// How long one copy may take before it is tried again.
const COPY_TIMEOUT: Duration = Duration::from_secs(30);
/// The first wait after a copy that failed; it doubles each time.
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// The longest such wait.
const RETRY_MAX: Duration = Duration::from_secs(60);
/// Source partitions whose offsets wait to be copied; those of further ones are not copied.
const PARTITIONS_WAITING_MAX: usize = 100_000;

/// Copies offsets of one connector to a second store. A copy that fails is tried again for ever and fails nothing else.
#[derive(Debug)]
pub(super) struct Copier {
    shared: Arc<Shared>,
    running: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    connector: String,
    to: Arc<dyn OffsetBackingStore>,
    waiting: Mutex<Waiting>,
    /// Something is to be done.
    news: Notify,
    /// Nothing waits and nothing is under way.
    idle: watch::Sender<bool>,
    /// Held while the second store is written, so that an older offset never comes behind a newer one.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Waiting {
    offsets: HashMap<PartitionMap, OffsetMap>,
    /// No pauses any more: somebody waits.
    hurry: bool,
    told_of_overflow: bool,
}

impl Copier {
    /// Starts to copy to `to`; must be called on the runtime.
    pub(super) fn start(connector: &str, to: Arc<dyn OffsetBackingStore>) -> Self {
        let shared = Arc::new(Shared {
            connector: connector.to_owned(),
            to,
            waiting: Mutex::default(),
            news: Notify::new(),
            idle: watch::Sender::new(true),
            writing: tokio::sync::Mutex::default(),
        });
        let running = tokio::spawn(Arc::clone(&shared).run());
        Self { shared, running }
    }

    /// The store that is copied to.
    pub(super) fn to(&self) -> &Arc<dyn OffsetBackingStore> {
        &self.shared.to
    }

    /// Has these copied. Called on any thread, after they are stored in the first place; never waits.
    pub(super) fn copy(&self, offsets: Vec<(PartitionMap, OffsetMap)>) {
        let mut waiting = self.shared.lock();
        for (partition, offset) in offsets {
            if waiting.offsets.len() < PARTITIONS_WAITING_MAX || waiting.offsets.contains_key(&partition) {
                waiting.offsets.insert(partition, offset);
            } else if !std::mem::replace(&mut waiting.told_of_overflow, true) {
                tracing::warn!(
                    connector = self.shared.connector,
                    partitions = PARTITIONS_WAITING_MAX,
                    "too many offsets wait to be copied to the worker's offset store; those of further source partitions are not copied"
                );
            }
        }
        let idle = waiting.offsets.is_empty();
        // Let go first: `run` looks into it while it holds the flag.
        drop(waiting);
        self.shared.idle.send_replace(idle);
        self.shared.news.notify_one();
    }

    /// Deletes offsets in the second store, and what waits to be copied for them.
    ///
    /// # Errors
    /// The second store cannot be written; they may be there still.
    pub(super) async fn delete(&self, partitions: Vec<PartitionMap>) -> Result<()> {
        // What is under way comes first.
        let _writing = self.shared.writing.lock().await;
        {
            let mut waiting = self.shared.lock();
            for partition in &partitions {
                waiting.offsets.remove(partition);
            }
        }
        let deleted = partitions.into_iter().map(|partition| (partition, None)).collect();
        self.shared.to.store(&self.shared.connector, deleted).await
    }

    /// Copies without pauses from now on, and waits, at most `timeout`, until nothing waits any more.
    pub(super) async fn flush(&self, timeout: Duration) {
        self.shared.lock().hurry = true;
        self.shared.news.notify_one();
        let mut idle = self.shared.idle.subscribe();
        if tokio::time::timeout(timeout, idle.wait_for(|idle| *idle)).await.is_err() {
            tracing::warn!(
                connector = self.shared.connector,
                timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
                "offsets could not be copied to the worker's offset store in time; the connector's own topic has them"
            );
        }
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run(self: Arc<Self>) {
        let (mut failures, mut wait) = (0u64, RETRY_FIRST);
        loop {
            match self.copy_waiting().await {
                None => {
                    self.idle.send_if_modified(|idle| self.lock().offsets.is_empty() && !std::mem::replace(idle, true));
                    self.news.notified().await;
                }
                Some(Ok(())) => {
                    if failures > 0 {
                        tracing::info!(
                            connector = self.connector,
                            failures,
                            "offsets are copied to the worker's offset store again"
                        );
                    }
                    (failures, wait) = (0, RETRY_FIRST);
                    self.pause(COPY_PAUSE).await;
                }
                Some(Err(error)) => {
                    failures += 1;
                    // At growing intervals.
                    if failures.is_power_of_two() {
                        tracing::warn!(
                            connector = self.connector,
                            failures,
                            error = %error.chain(),
                            "offsets cannot be copied to the worker's offset store; trying again"
                        );
                    }
                    self.pause(wait).await;
                    if self.lock().hurry {
                        tokio::time::sleep(RETRY_FIRST).await;
                    }
                    wait = (wait * 2).min(RETRY_MAX);
                }
            }
        }
    }

    /// Copies what waits; none if nothing does. What could not be copied waits again.
    async fn copy_waiting(&self) -> Option<Result<()>> {
        // Held until it is known what waits: a deletion then finds all of it.
        let _writing = self.writing.lock().await;
        let taken = std::mem::take(&mut self.lock().offsets);
        if taken.is_empty() {
            return None;
        }
        let offsets = taken.iter().map(|(partition, offset)| (partition.clone(), Some(offset.clone()))).collect();
        let stored = tokio::time::timeout(COPY_TIMEOUT, self.to.store(&self.connector, offsets)).await;
        let stored =
            stored.unwrap_or_else(|_| Err(TaskError::retriable(format!("not within {} s", COPY_TIMEOUT.as_secs()))));
        if stored.is_err() {
            let mut waiting = self.lock();
            for (partition, offset) in taken {
                // What came meanwhile is newer.
                waiting.offsets.entry(partition).or_insert(offset);
            }
        }
        Some(stored)
    }

    /// Waits, unless somebody is in a hurry.
    async fn pause(&self, time: Duration) {
        let until = tokio::time::Instant::now() + time;
        while !self.lock().hurry {
            let waited = tokio::time::timeout_at(until, self.news.notified()).await;
            if waited.is_err() {
                return;
            }
        }
    }
}
