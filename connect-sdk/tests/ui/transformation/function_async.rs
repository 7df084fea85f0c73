//! The function waits.

use connect_sdk::prelude::*;

#[transformation]
async fn look_up(record: ConnectRecord) -> ConnectRecord { //~ ERROR a transformation does not wait, so that it is no `async fn`
    record
}
