//! A function that serde names does not exist.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    #[serde(default = "first_id")] //~ ERROR cannot find value `first_id` in this scope
    id: i64,
}
