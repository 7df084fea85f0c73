//! A range has no value.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(range = 5..5)] //~ ERROR no value is in `5..5`
    size: i32,
}
