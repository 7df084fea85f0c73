//! A list of numbers.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    sizes: Vec<i32>, //~ ERROR `Vec<i32>` cannot be read from a connector configuration
}
