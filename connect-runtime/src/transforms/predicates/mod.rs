//! Predicates: which records a transformation is applied to.

mod has_header_key;
mod record_is_tombstone;
mod topic_name_matches;

use connect_sdk::transform::PredicateClass;

/// All predicates.
#[must_use]
pub fn classes() -> Vec<PredicateClass> {
    vec![has_header_key::CLASS, record_is_tombstone::CLASS, topic_name_matches::CLASS]
}
