//! An option is misspelt.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(importence = high)] //~ ERROR did you mean `importance`?
    size: i32,
}
