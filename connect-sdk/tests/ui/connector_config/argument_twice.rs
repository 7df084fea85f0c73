//! An argument is repeated.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = 1, default = 2)] //~ ERROR `default` is given twice
    size: i32,
}
