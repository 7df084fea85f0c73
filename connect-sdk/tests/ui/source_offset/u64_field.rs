//! An offset has an unsigned 64-bit number.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    i: u64, //~ ERROR signed 64-bit integers only; use `i64`
}
