//! The order in which a Java `HashMap` with text keys lists its entries.
//!
//! The offsets topic is compacted by the bytes of its keys, and Java wrote maps in this order: a key written in another
//! order is another key.

/// What a `HashMap` has room for unless told otherwise.
pub const DEFAULT_CAPACITY: usize = 16;

/// Java's `String.hashCode`, over UTF-16 code units.
#[must_use]
pub fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// Sorts entries, which must have distinct keys, into the order in which a `HashMap` that got them one after the other
/// lists them.
///
/// `capacity` is the number of buckets that the map starts with, a power of two: [`DEFAULT_CAPACITY`] for
/// `new HashMap<>()`. Buckets with eight entries and more, which Java turns into trees, are not followed.
pub fn sort_as_hash_map<T>(entries: &mut [T], capacity: usize, key: impl Fn(&T) -> &str) {
    let mut buckets = capacity.next_power_of_two();
    while entries.len() > buckets / 4 * 3 {
        buckets *= 2;
    }
    let mask = u32::try_from(buckets - 1).unwrap_or(u32::MAX);
    // Stable: within a bucket the order of insertion stays, also when the map grows.
    entries.sort_by_cached_key(|entry| {
        let hash = string_hash(key(entry)).cast_unsigned();
        (hash ^ hash >> 16) & mask
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_javas() {
        assert_eq!(string_hash(""), 0);
        assert_eq!(string_hash("filename"), -734768633);
        assert_eq!(string_hash("position"), 747804969);
        assert_eq!(string_hash("\u{1F600}"), 1772899);
    }

    #[test]
    fn the_order_is_that_of_the_buckets() {
        let mut keys = vec!["one", "two", "three", "four", "five"];
        sort_as_hash_map(&mut keys, DEFAULT_CAPACITY, |key| key);
        assert_eq!(keys, ["four", "one", "two", "three", "five"]);
    }

    #[test]
    fn a_map_that_has_grown_is_followed() {
        let keys: Vec<String> = (0..30).map(|i| format!("k{}", i * i)).collect();
        let mut keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        sort_as_hash_map(&mut keys, DEFAULT_CAPACITY, |key| key);
        assert_eq!(
            keys.join(" "),
            "k529 k729 k36 k16 k361 k121 k484 k100 k144 k441 k169 k400 k289 k784 k225 k324 k841 k625 k0 k81 k1 k64 k4 k9 \
             k25 k49 k196 k576 k256 k676"
        );
    }

    #[test]
    fn keys_of_one_bucket_stay_in_the_order_of_insertion() {
        // "Aa" and "BB" have the same hash.
        for pair in [["Aa", "BB"], ["BB", "Aa"]] {
            let mut keys = pair.to_vec();
            sort_as_hash_map(&mut keys, DEFAULT_CAPACITY, |key| key);
            assert_eq!(keys, pair);
        }
    }
}
