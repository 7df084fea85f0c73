//! A secret stands in the source code.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(default = "guest")] //~ ERROR a secret has no default
    password: Password,
}
