//! A default is below zero.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = -1)] //~ ERROR cannot apply unary operator `-` to type `usize`
    size: usize,
}
