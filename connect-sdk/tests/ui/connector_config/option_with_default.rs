//! An optional key has a default.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = 3)] //~ ERROR `default` does not fit `Option<T>`
    retries: Option<i32>,
}
