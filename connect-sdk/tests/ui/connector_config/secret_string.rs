//! A secret is a plain text.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    api_token: String, //~ ERROR `api_token` looks like a secret
}
