//! The record stands before the configuration.

use connect_sdk::prelude::*;
use given::Settings;

#[transformation]
fn upper(record: ConnectRecord, config: &Settings) -> ConnectRecord { //~ ERROR the last parameter is the record
    record
}
