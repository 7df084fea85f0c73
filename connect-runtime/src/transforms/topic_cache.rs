//! What a regular expression says about a topic, so that the next record of the topic costs no match.

use connect_sdk::data::{DataError, Text};

/// How many topics one transformation or predicate of one task remembers.
const TOPICS_CACHED_MAX: usize = 64;

/// A bounded cache by topic; when it is full, it begins anew.
#[derive(Debug)]
pub(super) struct TopicCache<T> {
    /// The last used first, as long as topics repeat.
    entries: Vec<(Text, T)>,
}

impl<T: Clone> TopicCache<T> {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// What is known for a topic; `make` works it out if nothing is.
    ///
    /// # Errors
    /// Those of `make`; nothing is remembered then.
    pub(super) fn get_or_make(
        &mut self,
        topic: &Text,
        make: impl FnOnce(&Text) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        if let Some(at) = self.entries.iter().position(|(known, _)| known == topic) {
            self.entries.swap(0, at);
            return Ok(self.entries[0].1.clone());
        }
        let made = make(topic)?;
        if self.entries.len() >= TOPICS_CACHED_MAX {
            self.entries.clear();
        }
        self.entries.push((topic.clone(), made.clone()));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_worked_out_once_and_the_cache_is_bounded() {
        let mut cache = TopicCache::new();
        let mut made = 0;
        for round in 0..3 {
            for topic in 0..TOPICS_CACHED_MAX {
                let topic = Text::from(topic.to_string());
                let got = cache.get_or_make(&topic, |topic| {
                    made += 1;
                    Ok(topic.clone())
                });
                assert_eq!(got, Ok(topic), "{round}");
            }
        }
        assert_eq!(made, TOPICS_CACHED_MAX);
        cache.get_or_make(&"one more".into(), |topic| Ok(topic.clone())).unwrap();
        assert_eq!(cache.entries.len(), 1);
    }
}
