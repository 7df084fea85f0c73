//! A word does not exist.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(importance = hihg)] //~ ERROR did you mean `high`?
    size: i32,
}
