//! The check of the whole is for a field.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
#[config(check = positive)] //~ ERROR type mismatch in function arguments
struct Settings {
    /// Said.
    size: i64,
}

fn positive(size: &i64) -> Result<(), String> {
    Ok(())
}
