//! `Map`: a map value, which keeps the order in which its entries were put.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use indexmap::{Equivalent, IndexMap};

use super::{IntoValue, Value};

/// A map from values to values, either of which may be null; a clone shares the entries until one of both is changed.
///
/// Iteration follows the order of insertion; equality ignores it, as Java's does.
///
/// ```
/// use connect_sdk::data::{Map, Value};
/// let mut map = Map::new();
/// map.insert("a", 1i32);
/// assert_eq!(map.get_str("a"), Some(Some(&Value::from(1i32))));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Map(Arc<IndexMap<Key, Option<Value>>>);

#[derive(Clone, PartialEq, Eq)]
struct Key(Option<Value>);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            None => state.write_u8(0),
            // Apart from the rest, so that a `&str` can look for a text key.
            Some(Value::String(text)) => text.hash(state),
            Some(value) => value.hash(state),
        }
    }
}

impl Equivalent<Key> for str {
    fn equivalent(&self, key: &Key) -> bool {
        matches!(&key.0, Some(Value::String(text)) if text == self)
    }
}

/// A borrowed key; the wrapper gives it the hash of `Key`.
struct Wanted<'a>(Option<&'a Value>);

impl Hash for Wanted<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            None => state.write_u8(0),
            Some(Value::String(text)) => text.hash(state),
            Some(value) => value.hash(state),
        }
    }
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.0 == key.0.as_ref()
    }
}

impl Map {
    /// A map without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A map without entries that has room for `capacity` of them.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Arc::new(IndexMap::with_capacity(capacity)))
    }

    /// Puts an entry; a key that is already there keeps its place and gets the new value.
    pub fn insert(&mut self, key: impl IntoValue, value: impl IntoValue) {
        Arc::make_mut(&mut self.0).insert(Key(key.into_value()), value.into_value());
    }

    /// Takes the entry of a text key out; the others keep their order. Tells whether there was one.
    pub fn remove_str(&mut self, key: &str) -> bool {
        self.take_str(key).is_some()
    }

    /// Takes the entry of a text key out and gives its value; the others keep their order. None if there is no such
    /// entry, `Some(None)` if its value is null.
    pub fn take_str(&mut self, key: &str) -> Option<Option<Value>> {
        Arc::make_mut(&mut self.0).shift_remove(key)
    }

    /// The value of a text key, to be changed in its place; none if there is no such entry.
    #[must_use]
    pub fn get_str_mut(&mut self, key: &str) -> Option<&mut Option<Value>> {
        // A map that is shared is only copied if there is something to change.
        if !self.contains_str(key) {
            return None;
        }
        Arc::make_mut(&mut self.0).get_mut(key)
    }

    /// The value of this key: none if there is no such entry, `Some(None)` if it is null.
    #[must_use]
    pub fn get(&self, key: Option<&Value>) -> Option<Option<&Value>> {
        self.0.get(&Wanted(key)).map(Option::as_ref)
    }

    /// The value of a text key: none if there is no such entry, `Some(None)` if it is null.
    #[must_use]
    pub fn get_str(&self, key: &str) -> Option<Option<&Value>> {
        self.0.get(key).map(Option::as_ref)
    }

    /// Whether there is an entry with this text key.
    #[must_use]
    pub fn contains_str(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries, key and value, in the order in which they were put.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Option<&Value>, Option<&Value>)> + DoubleEndedIterator {
        self.0.iter().map(|(key, value)| (key.0.as_ref(), value.as_ref()))
    }
}

/// The entries, key and value, in the order in which they were put; moved out if no clone shares them, else copied.
impl IntoIterator for Map {
    type Item = (Option<Value>, Option<Value>);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(Arc::unwrap_or_clone(self.0).into_iter())
    }
}

/// The entries of a [`Map`] that was given up.
pub struct IntoIter(indexmap::map::IntoIter<Key, Option<Value>>);

impl Iterator for IntoIter {
    type Item = (Option<Value>, Option<Value>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.0, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for IntoIter {}

impl fmt::Debug for IntoIter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} entries", self.0.len())
    }
}

// Independent of the order of entries, as equality is.
impl Hash for Map {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let sum = self.0.iter().fold(0u64, |sum, entry| {
            let mut hasher = DefaultHasher::new();
            entry.hash(&mut hasher);
            sum.wrapping_add(hasher.finish())
        });
        state.write_u64(sum);
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: IntoValue, V: IntoValue> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(Arc::new(entries.into_iter().map(|(key, value)| (Key(key.into_value()), value.into_value())).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_order_and_equality_ignores_it() {
        let map: Map = [("b", 1), ("a", 2), ("b", 3)].into_iter().collect();
        let keys: Vec<_> = map.iter().map(|(key, _)| key.and_then(Value::as_str).unwrap()).collect();
        assert_eq!(keys, ["b", "a"]);
        assert_eq!(map, [("a", 2), ("b", 3)].into_iter().collect());
        assert_eq!(map.get_str("b"), Some(Some(&Value::from(3))));
    }

    #[test]
    fn keys_of_every_kind_are_found() {
        let mut map = Map::new();
        map.insert(None::<Value>, "null key");
        map.insert(1i32, "int");
        map.insert("t", None::<Value>);
        map.insert(Value::array(["x"]), "list");
        assert_eq!(map.get(None), Some(Some(&Value::from("null key"))));
        assert_eq!(map.get(Some(&Value::from(1i32))), Some(Some(&Value::from("int"))));
        assert_eq!(map.get(Some(&Value::from(1i64))), None);
        assert_eq!(map.get(Some(&Value::from("t"))), Some(None));
        assert_eq!(map.get_str("t"), Some(None));
        assert_eq!(map.get(Some(&Value::array(["x"]))), Some(Some(&Value::from("list"))));
    }

    #[test]
    fn entries_are_changed_in_place_and_moved_out() {
        let map: Map = [("a", Some("x")), ("b", None)].into_iter().collect();
        let mut copy = map.clone();
        assert!(copy.get_str_mut("z").is_none());
        *copy.get_str_mut("b").unwrap() = Some(1i32.into());
        assert_eq!(copy.take_str("b"), Some(Some(1i32.into())));
        assert_eq!(map.get_str("b"), Some(None));
        assert_eq!(copy.into_iter().collect::<Vec<_>>(), [(Some("a".into()), Some("x".into()))]);
        assert_eq!(map.into_iter().len(), 2);
    }

    #[test]
    fn a_changed_clone_leaves_the_original_alone() {
        let map: Map = [("a", 1)].into_iter().collect();
        let mut copy = map.clone();
        assert!(copy.remove_str("a"));
        assert_eq!((map.len(), copy.len()), (1, 0));
    }
}
