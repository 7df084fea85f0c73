//! The key is among those of the framework.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    errors_log_enable: bool, //~ ERROR keys that begin with `errors.` belong to the framework
}
