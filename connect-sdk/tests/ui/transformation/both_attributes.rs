//! A function with two attributes.

use connect_sdk::prelude::*;

#[transformation]
#[predicate] //~ ERROR an item is described once
fn upper(record: ConnectRecord) -> ConnectRecord {
    record
}
