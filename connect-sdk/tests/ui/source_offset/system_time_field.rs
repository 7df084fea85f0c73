//! An offset has a time.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    when: std::time::SystemTime, //~ ERROR use `i64` milliseconds
}
