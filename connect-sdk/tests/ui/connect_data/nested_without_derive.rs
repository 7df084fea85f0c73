//! A part is not derived.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    line: Line, //~ ERROR `Line` is not Connect data
}

struct Line {
    price: i64,
}
