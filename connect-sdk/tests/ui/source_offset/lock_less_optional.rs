//! A field may be absent from what is stored.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
#[offset(lock = "at.lock")]
struct At {
    i: i64,
    note: String, //~ ERROR `At.note` may be absent from what is stored
}
