//! A field is not documented.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    size: usize, //~ ERROR `size` has no doc comment
}
