//! A key has a blank.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(key = "batch size")] //~ ERROR `batch size` is not a valid key
    size: i32,
}
