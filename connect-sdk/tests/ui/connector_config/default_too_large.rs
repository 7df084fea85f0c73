//! A default does not fit its type.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = 70000)] //~ ERROR literal out of range for `u16`
    port: u16,
}
