//! The default of an enum is a text.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = "append")] //~ ERROR expected `Mode`, found `&str`
    mode: Mode,
}

#[derive(ConfigEnum)]
enum Mode {
    Append,
}
