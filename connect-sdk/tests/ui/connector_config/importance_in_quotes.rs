//! A word is a text.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(importance = "high")] //~ ERROR write it without quotes: `importance = high`
    size: i32,
}
