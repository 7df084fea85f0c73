//! An offset has a number without a width.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    i: usize, //~ ERROR use `i64`, with `i64::try_from`
}
