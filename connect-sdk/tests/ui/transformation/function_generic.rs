//! The function is generic.

use connect_sdk::prelude::*;

#[transformation]
fn upper<T: Default>(record: ConnectRecord) -> ConnectRecord { //~ ERROR cannot be generic: the worker makes it from its class name alone
    record
}
