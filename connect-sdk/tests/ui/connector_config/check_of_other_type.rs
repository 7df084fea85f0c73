//! A check is for another type.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(check = positive)] //~ ERROR mismatched types
    size: i64,
}

fn positive(size: &i32) -> Result<(), String> {
    Ok(())
}
