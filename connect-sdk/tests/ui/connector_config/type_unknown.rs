//! A type cannot be read from text.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    limits: std::collections::HashMap<String, i32>, //~ ERROR cannot be read from a connector configuration
}
