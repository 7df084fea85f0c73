//! An argument of a field stands on the struct.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
#[config(default = 1)] //~ ERROR `#[config(..)]` has no `default`; expected one of: `check`, `of`, `crate`
struct Settings {
    /// Said.
    size: i32,
}
