//! Every field is wrong, which is said of each.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    a: u64, //~ ERROR use `i64`
    b: Vec<u8>, //~ ERROR flat map
    c: char, //~ ERROR use `String` for text
}
