//! An option in an option.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    i: Option<Option<i64>>, //~ ERROR both kinds of nothing are null
}
