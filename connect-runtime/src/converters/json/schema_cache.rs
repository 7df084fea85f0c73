//! Schemas that were seen, with their text: bounded, the one that was not needed for longest makes room.

use std::borrow::Borrow;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use connect_sdk::data::Schema;

/// How many caches stand side by side, so that tasks on different threads seldom wait for each other.
const SHARDS: usize = 4;
/// How many bytes of text one cache may hold, however few schemas that are.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// A map that forgets what was not asked for longest.
struct Lru<K, V> {
    entries: HashMap<K, Entry<V>>,
    entries_max: usize,
    bytes: usize,
    clock: u64,
}

struct Entry<V> {
    value: V,
    bytes: usize,
    used: u64,
}

impl<K: Hash + Eq + Clone, V> Lru<K, V> {
    fn new(entries_max: usize) -> Self {
        Self { entries: HashMap::new(), entries_max, bytes: 0, clock: 0 }
    }

    fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used = self.clock;
        Some(&entry.value)
    }

    /// `bytes` is what the entry counts against the limit.
    fn insert(&mut self, key: K, value: V, bytes: usize) {
        if self.entries_max == 0 || bytes > TEXT_BYTES_MAX || self.entries.contains_key(&key) {
            return;
        }
        while self.entries.len() >= self.entries_max || self.bytes + bytes > TEXT_BYTES_MAX {
            // Only a schema that is new gets here, so that the walk costs little beside making it.
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
            let Some(gone) = oldest.and_then(|key| self.entries.remove(&key)) else { break };
            self.bytes -= gone.bytes;
        }
        self.clock += 1;
        self.bytes += bytes;
        self.entries.insert(key, Entry { value, bytes, used: self.clock });
    }
}

/// Several caches of one kind, of which each thread uses one.
struct Shards<C>([Mutex<C>; SHARDS]);

impl<C> Shards<C> {
    fn new(make: impl Fn() -> C) -> Self {
        Self(std::array::from_fn(|_| Mutex::new(make())))
    }

    fn lock(&self) -> MutexGuard<'_, C> {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static SHARD: Cell<usize> = Cell::new(THREADS.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        // A cache holds nothing that a panic could leave half done.
        self.0[SHARD.get()].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stands in front of the value in messages of a schema.
pub(super) struct WrittenSchemas(Shards<Written>);

struct Written {
    /// The schema of the message before, which most often is the one of the next message too.
    recent: Option<(Schema, Arc<[u8]>)>,
    known: Lru<Schema, Arc<[u8]>>,
}

impl WrittenSchemas {
    pub(super) fn new(entries_max: usize) -> Self {
        Self(Shards::new(|| Written { recent: None, known: Lru::new(entries_max) }))
    }

    /// Appends the text of a schema if it is known.
    pub(super) fn write(&self, schema: &Schema, out: &mut Vec<u8>) -> bool {
        let mut guard = self.0.lock();
        let Written { recent, known } = &mut *guard;
        if let Some((last, text)) = recent
            && last == schema
        {
            out.extend_from_slice(text);
            return true;
        }
        let Some(text) = known.get(schema) else { return false };
        out.extend_from_slice(text);
        *recent = Some((schema.clone(), Arc::clone(text)));
        true
    }

    /// Remembers the text of a schema.
    pub(super) fn insert(&self, schema: &Schema, text: &[u8]) {
        self.0.lock().known.insert(schema.clone(), text.into(), text.len());
    }
}

/// Schemas by the text that they were read from.
pub(super) struct ReadSchemas(Shards<Read>);

struct Read {
    recent: Option<ReadSchema>,
    known: Lru<Arc<[u8]>, ReadSchema>,
}

/// A schema behind the text that it was read from.
type ReadSchema = (Arc<[u8]>, Schema);

impl ReadSchemas {
    pub(super) fn new(entries_max: usize) -> Self {
        Self(Shards::new(|| Read { recent: None, known: Lru::new(entries_max) }))
    }

    /// The schema that a text begins with, and its length, if it is the one that was asked for last.
    ///
    /// The text of a schema is an object, which no longer text of a schema begins with.
    pub(super) fn starting(&self, text: &[u8]) -> Option<(Schema, usize)> {
        let guard = self.0.lock();
        let (known, schema) = guard.recent.as_ref()?;
        text.starts_with(known).then(|| (schema.clone(), known.len()))
    }

    /// The schema with exactly this text.
    pub(super) fn get(&self, text: &[u8]) -> Option<Schema> {
        let mut guard = self.0.lock();
        let (text, schema) = guard.known.get(text)?;
        let (text, schema) = (Arc::clone(text), schema.clone());
        guard.recent = Some((text, schema.clone()));
        Some(schema)
    }

    /// Remembers a schema.
    pub(super) fn insert(&self, text: &[u8], schema: &Schema) {
        let shared: Arc<[u8]> = text.into();
        self.0.lock().known.insert(Arc::clone(&shared), (shared, schema.clone()), text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_was_not_used_for_longest_goes() {
        let mut cache = Lru::new(2);
        cache.insert(1, "a", 1);
        cache.insert(2, "b", 1);
        assert_eq!(cache.get(&1), Some(&"a"));
        cache.insert(3, "c", 1);
        assert_eq!([1, 2, 3].map(|key| cache.get(&key).copied()), [Some("a"), None, Some("c")]);
        assert_eq!(cache.bytes, 2);
    }

    #[test]
    fn bytes_are_bounded_too() {
        let mut cache = Lru::new(100);
        cache.insert(1, (), TEXT_BYTES_MAX / 2);
        cache.insert(2, (), TEXT_BYTES_MAX / 2);
        cache.insert(3, (), TEXT_BYTES_MAX / 2 + 1);
        assert_eq!(cache.entries.len(), 1);
        cache.insert(4, (), TEXT_BYTES_MAX + 1);
        assert_eq!(cache.entries.keys().collect::<Vec<_>>(), [&3]);
    }

    #[test]
    fn a_cache_of_size_zero_keeps_nothing() {
        let cache = WrittenSchemas::new(0);
        cache.insert(&Schema::int8(), b"x");
        assert!(!cache.write(&Schema::int8(), &mut Vec::new()));
    }

    #[test]
    fn a_schema_is_found_by_the_beginning_of_a_message() {
        let cache = ReadSchemas::new(10);
        let text = br#"{"type":"int8"}"#;
        cache.insert(text, &Schema::int8());
        assert!(cache.starting(text).is_none());
        assert_eq!(cache.get(text), Some(Schema::int8()));
        assert_eq!(cache.starting(br#"{"type":"int8"},"payload":1}"#), Some((Schema::int8(), text.len())));
        assert!(cache.starting(br#"{"type":"int16"}"#).is_none());
    }
}
