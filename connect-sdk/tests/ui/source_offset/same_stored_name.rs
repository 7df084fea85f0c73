//! Two fields are stored under one name.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    i: i64,
    #[offset(rename = "i")]
    j: i64, //~ ERROR `i` and `j` are both stored as `i`
}
