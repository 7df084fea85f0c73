//! The function is unsafe.

use connect_sdk::prelude::*;

#[transformation]
unsafe fn upper(record: ConnectRecord) -> ConnectRecord { //~ ERROR it cannot be `unsafe`
    record
}
