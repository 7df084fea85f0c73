//! The attribute is written as a value.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config = "batch.size"] //~ ERROR write `#[config(..)]`
    size: i32,
}
