//! A place to write to, found by its name in the configuration.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

#[derive(Default)]
struct Content {
    entries: Vec<String>,
    /// Offsets that a sink keeps beside its entries.
    offsets: BTreeMap<(String, i32), i64>,
}

static TARGETS: LazyLock<Mutex<BTreeMap<String, Arc<Mutex<Content>>>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(0);

#[derive(Clone)]
pub(crate) struct Target {
    name: String,
    content: Arc<Mutex<Content>>,
}

impl Target {
    pub(crate) fn new() -> Self {
        Self::named(&format!("target-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn named(name: &str) -> Self {
        let content = Arc::clone(lock(&TARGETS).entry(name.to_owned()).or_default());
        Self { name: name.to_owned(), content }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn write(&self, entry: impl Into<String>) {
        lock(&self.content).entries.push(entry.into());
    }

    pub(crate) fn entries(&self) -> Vec<String> {
        lock(&self.content).entries.clone()
    }

    pub(crate) fn set_offset(&self, topic: &str, partition: i32, offset: i64) {
        lock(&self.content).offsets.insert((topic.to_owned(), partition), offset);
    }

    pub(crate) fn offset(&self, topic: &str, partition: i32) -> Option<i64> {
        lock(&self.content).offsets.get(&(topic.to_owned(), partition)).copied()
    }
}

fn lock<T>(content: &Mutex<T>) -> MutexGuard<'_, T> {
    content.lock().unwrap_or_else(PoisonError::into_inner)
}
