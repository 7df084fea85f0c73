//! An attribute of serde.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[serde(default)] //~ ERROR cannot find attribute `serde` in this scope
    size: i32,
}
