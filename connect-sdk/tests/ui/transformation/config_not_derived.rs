//! The configuration is a struct like any other.

use connect_sdk::prelude::*;

struct Settings {
    topic: String,
}

#[transformation]
fn upper(config: &Settings, record: ConnectRecord) -> ConnectRecord { //~ ERROR needs `#[derive(ConnectorConfig)]`
    record
}
