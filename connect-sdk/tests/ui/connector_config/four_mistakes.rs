//! Four mistakes are four errors.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = 9, range = 1..=5)] //~ ERROR outside
    size: i32,
    undocumented: bool, //~ ERROR no doc comment
    /// Said.
    name: String, //~ ERROR the key `name` is not free
    /// Said.
    wrong: [u8; 4], //~ ERROR cannot be read from a connector configuration
}
