//! The part stands before the configuration.

use connect_sdk::prelude::*;
use given::Settings;

#[transformation]
fn upper(part: Part, config: &Settings, record: ConnectRecord) -> ConnectRecord { //~ ERROR one too many, or in another place
    record
}
