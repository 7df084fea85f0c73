//! The unit makes two keys one.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    pause_ms: i64,
    /// Said.
    pause: std::time::Duration, //~ ERROR both have the key `pause.ms`
}
