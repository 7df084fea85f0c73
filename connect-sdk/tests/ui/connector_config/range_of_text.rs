//! A text has a range.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(range = 1..=10)] //~ ERROR to check a `String` use `check = function`
    topic: String,
}
