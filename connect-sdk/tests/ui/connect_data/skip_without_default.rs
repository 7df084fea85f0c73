//! A field that is not sent has no default.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    id: i64,
    #[connect(skip)]
    cache: Cache, //~ ERROR the trait bound `Cache: Default` is not satisfied
}

struct Cache;
