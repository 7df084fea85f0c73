//! The function takes the record of a sink.

use connect_sdk::prelude::*;

#[transformation]
fn upper(record: SinkRecord) -> Option<ConnectRecord> { //~ ERROR the last parameter is the record
    None
}
