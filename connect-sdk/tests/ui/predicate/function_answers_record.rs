//! The predicate answers the record.

use connect_sdk::prelude::*;

#[predicate]
fn small(record: &ConnectRecord) -> Option<ConnectRecord> { //~ ERROR a predicate cannot answer `Option<
    None
}
