//! The default is not said.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default)] //~ ERROR operators are shown the default
    size: i32,
}
