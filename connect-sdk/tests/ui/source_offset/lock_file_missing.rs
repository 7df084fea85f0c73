//! There is no lock file.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
#[offset(lock = "none.lock")] //~ ERROR none.lock
struct At {
    i: i64,
}
