//! The default is outside the range.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = 0, range = 1..)] //~ ERROR the default 0 is outside `range = 1..`
    size: usize,
}
