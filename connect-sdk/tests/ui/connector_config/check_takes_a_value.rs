//! A check takes the value and not a reference.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(check = positive)] //~ ERROR mismatched types
    size: i64,
}

fn positive(size: i64) -> Result<(), String> {
    Ok(())
}
