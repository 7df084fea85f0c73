//! A field is new, and stored offsets do not have it.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
#[offset(lock = "at.lock")]
struct At {
    i: i64,
    epoch: i64, //~ ERROR `At.epoch` is not in `at.lock`: offsets that are stored already do not have it
}
