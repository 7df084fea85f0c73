//! An offset has a tuple.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    i: (i64, i64), //~ ERROR its fields are plain values
}
