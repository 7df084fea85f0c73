//! An option is misspelt.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    #[offset(defualt = 0)] //~ ERROR did you mean `default`?
    i: i64,
}
