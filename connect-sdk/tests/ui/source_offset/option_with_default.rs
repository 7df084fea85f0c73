//! An option has a default.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    #[offset(default = Some(1))] //~ ERROR remove `default` or the `Option`
    i: Option<i64>,
}
