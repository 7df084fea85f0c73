//! An option in an option.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    size: Option<Option<i32>>, //~ ERROR a key is set or it is not
}
