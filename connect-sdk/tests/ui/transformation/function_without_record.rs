//! The function takes no record.

use connect_sdk::prelude::*;

#[transformation]
fn upper() -> Option<ConnectRecord> { //~ ERROR it takes no record: `fn name(config: &Config
    None
}
