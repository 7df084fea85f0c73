//! A configuration has a struct.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    inner: Inner, //~ ERROR `Inner` cannot be read from a connector configuration
}

#[derive(ConnectorConfig)]
struct Inner {
    /// Said.
    size: i32,
}
