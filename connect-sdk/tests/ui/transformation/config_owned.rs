//! The configuration is taken by value.

use connect_sdk::prelude::*;
use given::Settings;

#[transformation]
fn upper(config: Settings, record: ConnectRecord) -> ConnectRecord { //~ ERROR the configuration is lent, for every record: write `&Settings`
    record
}
