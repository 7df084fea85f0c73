//! What a transformation has worked out for a schema, so that the next record of the schema costs nothing of it.

use connect_sdk::data::{DataError, Schema};

/// How many schemas one transformation of one task remembers; as in Kafka. A topic seldom has more at a time.
pub(super) const SCHEMAS_CACHED_MAX: usize = 16;

/// A bounded cache by schema; the schema that was not used for the longest time goes first.
#[derive(Debug)]
pub(super) struct SchemaCache<P> {
    /// The last used first.
    entries: Vec<(Schema, P)>,
}

impl<P> SchemaCache<P> {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// What is known for a schema; `make` works it out if nothing is.
    ///
    /// # Errors
    /// Those of `make`; nothing is remembered then.
    pub(super) fn get_or_make(
        &mut self,
        schema: &Schema,
        make: impl FnOnce(&Schema) -> Result<P, DataError>,
    ) -> Result<&P, DataError> {
        match self.entries.iter().position(|(known, _)| known == schema) {
            Some(0) => {}
            Some(at) => self.entries[..=at].rotate_right(1),
            None => {
                let made = make(schema)?;
                self.entries.truncate(SCHEMAS_CACHED_MAX - 1);
                self.entries.insert(0, (schema.clone(), made));
            }
        }
        Ok(&self.entries[0].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::data::SchemaBuilder;

    #[test]
    fn the_schema_that_was_not_used_for_longest_goes_first() {
        let schema = |version| SchemaBuilder::struct_().version(version).build().unwrap();
        let mut cache = SchemaCache::new();
        let mut made = Vec::new();
        let newest = i32::try_from(SCHEMAS_CACHED_MAX).unwrap();
        // 0 is used again before there is one too many, so 1 has to go.
        for version in (0..newest).chain([0, newest, 0, newest, 1]) {
            cache
                .get_or_make(&schema(version), |_| {
                    made.push(version);
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(made, (0..=newest).chain([1]).collect::<Vec<_>>());
        assert_eq!(cache.entries.len(), SCHEMAS_CACHED_MAX);
    }

    #[test]
    fn a_failure_is_not_remembered() {
        let mut cache = SchemaCache::new();
        cache.get_or_make(&Schema::int8(), |_| Err(DataError::new("not yet"))).unwrap_err();
        assert_eq!(cache.get_or_make(&Schema::int8(), |_| Ok(1)), Ok(&1));
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_asked_for_the_answer_is_right_and_the_cache_is_bounded(asked in proptest::collection::vec(0..40i32, 0..200)) {
            let mut cache = SchemaCache::new();
            for version in asked {
                let schema = SchemaBuilder::struct_().version(version).build().unwrap();
                proptest::prop_assert_eq!(cache.get_or_make(&schema, |schema| Ok(schema.version())), Ok(&Some(version)));
                proptest::prop_assert!(cache.entries.len() <= SCHEMAS_CACHED_MAX);
            }
        }
    }
}
