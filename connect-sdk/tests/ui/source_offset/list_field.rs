//! An offset has a list.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    seen: Vec<i64>, //~ ERROR it is stored as one flat map
}
