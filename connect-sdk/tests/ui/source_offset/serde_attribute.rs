//! An attribute of serde.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    #[serde(default)] //~ ERROR cannot find attribute `serde` in this scope
    i: i64,
}
