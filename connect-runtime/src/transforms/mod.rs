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

use connect_sdk::plugin::Plugins;
use connect_sdk::transform::TransformationClass;

/// All transformations.
#[must_use]
pub fn classes() -> Vec<TransformationClass> {
    register(Plugins::new()).transformations().to_vec()
}

/// Registers all transformations.
#[must_use]
pub fn register(plugins: Plugins) -> Plugins {
    plugins
        .transformation::<drop_headers::drop_headers>()
        .transformation::<filter::filter>()
        .transformation::<insert_header::InsertHeader>()
        .transformation::<regex_router::RegexRouter>()
        .transformation::<timestamp_router::TimestampRouter>()
        .transformation::<value_to_key::ValueToKey>()
        .transformation::<cast::Cast>()
        .transformation::<extract_field::ExtractField>()
        .transformation::<flatten::Flatten>()
        .transformation::<header_from::HeaderFrom>()
        .transformation::<hoist_field::HoistField>()
        .transformation::<insert_field::InsertField>()
        .transformation::<mask_field::MaskField>()
        .transformation::<replace_field::ReplaceField>()
        .transformation::<set_schema_metadata::SetSchemaMetadata>()
        .transformation::<timestamp_converter::TimestampConverter>()
}
