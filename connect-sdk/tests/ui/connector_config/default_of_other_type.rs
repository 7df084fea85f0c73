//! The default is of another type.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = "many")] //~ ERROR expected `usize`, found `&str`
    size: usize,
}
