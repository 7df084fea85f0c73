//! A number of single precision.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    ratio: f32, //~ ERROR `f32` cannot be read from a connector configuration
}
