//! The record is borrowed.

use connect_sdk::prelude::*;

#[transformation]
fn upper(record: &ConnectRecord) -> ConnectRecord { //~ ERROR takes the record and gives it back: write `ConnectRecord`
    record.clone()
}
