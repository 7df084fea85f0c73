//! A range is one number.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(range = 100)] //~ ERROR this is not a range
    size: i32,
}
