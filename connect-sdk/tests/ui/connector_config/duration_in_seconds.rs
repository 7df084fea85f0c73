//! A duration names another unit.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    pause_secs: std::time::Duration, //~ ERROR leave `secs` out of the name
}
