//! The default is of another type.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    #[offset(default = "0")] //~ ERROR expected `i64`, found `&str`
    i: i64,
}
