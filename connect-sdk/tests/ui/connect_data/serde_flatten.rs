//! serde gives the value another shape.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    id: i64,
    #[serde(flatten)] //~ ERROR `ConnectData` does not follow `#[serde(flatten)]`
    more: Line,
}

#[derive(ConnectData)]
struct Line {
    price: i64,
}
