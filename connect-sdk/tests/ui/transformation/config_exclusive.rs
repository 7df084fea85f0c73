//! The function keeps something in its configuration.

use connect_sdk::prelude::*;
use given::Settings;

#[transformation]
fn count(config: &mut Settings, record: ConnectRecord) -> ConnectRecord { //~ ERROR keeps nothing from record to record
    record
}
