//! The function is a predicate by its answer.

use connect_sdk::prelude::*;

#[transformation]
fn keeps(record: ConnectRecord) -> bool { //~ ERROR a transformation cannot answer `bool`
    record.value.value.is_some()
}
