//! The predicate takes the record.

use connect_sdk::prelude::*;

#[predicate]
fn small(record: ConnectRecord) -> bool { //~ ERROR a predicate only looks at the record: write `&ConnectRecord`
    true
}
