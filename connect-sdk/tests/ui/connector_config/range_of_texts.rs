//! The limits of a range are texts.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(range = "1".."5")] //~ ERROR is not satisfied
    size: i32,
}
