//! A range has no limit.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(range = ..)] //~ ERROR this range has no limit
    size: i32,
}
