//! A version is a text.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
#[connect(version = "1")] //~ ERROR the version of a schema is a whole number
struct Order {
    id: i64,
}
