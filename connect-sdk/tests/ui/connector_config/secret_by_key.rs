//! A secret hides behind its key.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(key = "jdbc.password")]
    login: Option<String>, //~ ERROR use `Password`
}
