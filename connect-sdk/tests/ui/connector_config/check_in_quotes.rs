//! A function is written as a text.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(check = "positive")] //~ ERROR name the function without quotes: `check = positive`
    size: i64,
}
