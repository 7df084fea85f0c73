//! A width that there is not.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(width = wide)] //~ ERROR `width` cannot be `wide`; expected one of: `short`, `medium`, `long`
    size: i32,
}
