//! The function does not give the record back.

use connect_sdk::prelude::*;

#[transformation]
fn upper(mut record: ConnectRecord) { //~ ERROR it answers nothing, but is asked for the changed record
    record.offset = None;
}
