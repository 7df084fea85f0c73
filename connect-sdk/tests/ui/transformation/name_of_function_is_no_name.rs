//! The default name is none that users could write.

use connect_sdk::prelude::*;

#[transformation]
fn _upper(record: ConnectRecord) -> ConnectRecord { //~ ERROR give it a name, `name = "Upper"`
    record
}
