//! The validator is a function.

use connect_sdk::prelude::*;

fn small(_: &i32) -> Result<(), String> {
    Ok(())
}

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(validator = small)] //~ ERROR mismatched types
    size: i32,
}
