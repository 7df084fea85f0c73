//! A check does not say why.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(check = positive)] //~ ERROR mismatched types
    size: i64,
}

fn positive(size: &i64) -> bool {
    true
}
