//! An enum is not derived.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    mode: Mode, //~ ERROR `Mode` cannot be read from a connector configuration
}

enum Mode {
    Append,
}
