//! Kafka's single message transformations and predicates, and the chain that a connector's records go through.
//!
//! They use connect-sdk alone, as those of other authors do. What a transformation works out for a schema it remembers;
//! values are moved, not copied. Differences from Kafka's: `docs/deviations.md`.

mod cast;
mod chain;
mod chain_config;
mod drop_headers;
mod extract_field;
mod field_path;
mod filter;
mod flatten;
mod header_from;
mod hoist_field;
mod insert_field;
mod insert_header;
mod mask_field;
mod part;
pub mod predicates;
mod regex_router;
mod replace_field;
mod schema_cache;
mod set_schema_metadata;
mod settings;
mod shape;
mod stage;
#[cfg(test)]
mod tests;
mod timestamp_converter;
mod timestamp_router;
mod topic_cache;
mod value_to_key;

pub use chain::Chain;
pub use chain_config::ChainConfig;
pub use stage::{Condition, Stage};

use connect_sdk::transform::TransformationClass;

/// All transformations.
#[must_use]
pub fn classes() -> Vec<TransformationClass> {
    let mut all = vec![
        drop_headers::CLASS,
        filter::CLASS,
        insert_header::CLASS,
        regex_router::CLASS,
        timestamp_router::CLASS,
        value_to_key::CLASS,
    ];
    for pair in [
        cast::CLASSES,
        extract_field::CLASSES,
        flatten::CLASSES,
        header_from::CLASSES,
        hoist_field::CLASSES,
        insert_field::CLASSES,
        mask_field::CLASSES,
        replace_field::CLASSES,
        set_schema_metadata::CLASSES,
        timestamp_converter::CLASSES,
    ] {
        all.extend(pair);
    }
    all
}
