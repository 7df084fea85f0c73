//! Predicates: which records a transformation is applied to.

mod has_header_key;
mod record_is_tombstone;
mod topic_name_matches;

use connect_sdk::plugin::Plugins;
use connect_sdk::transform::PredicateClass;

/// All predicates.
#[must_use]
pub fn classes() -> Vec<PredicateClass> {
    register(Plugins::new()).predicates().to_vec()
}

/// Registers all predicates.
#[must_use]
pub fn register(plugins: Plugins) -> Plugins {
    plugins
        .predicate::<has_header_key::has_header_key>()
        .predicate::<record_is_tombstone::record_is_tombstone>()
        .predicate::<topic_name_matches::TopicNameMatches>()
}
