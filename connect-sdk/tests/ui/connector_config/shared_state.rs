//! Shared state rides in the configuration.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    shared: std::sync::Arc<std::sync::Mutex<i64>>, //~ ERROR cannot be read from a connector configuration
}
