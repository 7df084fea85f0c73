//! The key that the worker sets.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
#[config(of = converter)]
struct Settings {
    /// What it is for.
    converter_type: String, //~ ERROR the key `converter.type` is not free
}
