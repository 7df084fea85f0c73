//! The default of a duration has no unit.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = 500)] //~ ERROR `Duration::from_millis(500)`
    pause: std::time::Duration,
}
