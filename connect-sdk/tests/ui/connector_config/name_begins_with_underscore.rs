//! A name makes a key that begins with a dot.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    _hidden: bool, //~ ERROR `.hidden` is not a valid key
}
