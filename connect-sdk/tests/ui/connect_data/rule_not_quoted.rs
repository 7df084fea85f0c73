//! A rule is no text.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
#[connect(rename_all = camelCase)] //~ ERROR write `rename_all = "camelCase"`
struct Order {
    id: i64,
}
