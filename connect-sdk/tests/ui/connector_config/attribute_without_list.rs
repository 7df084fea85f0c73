//! The attribute has no list.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config] //~ ERROR write `#[config(..)]`
    size: i32,
}
