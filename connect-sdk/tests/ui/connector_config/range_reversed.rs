//! The limits of a range are exchanged.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(range = 10..=1)] //~ ERROR no value is in `10..=1`
    size: i32,
}
