//! A configuration borrows.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    topic: &'static str, //~ ERROR cannot be read from a connector configuration
}
