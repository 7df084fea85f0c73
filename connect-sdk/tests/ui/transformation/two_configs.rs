//! There are two configurations.

use connect_sdk::prelude::*;
use given::Settings;

#[transformation]
fn upper(a: &Settings, b: &Settings, record: ConnectRecord) -> ConnectRecord { //~ ERROR one too many, or in another place
    record
}
