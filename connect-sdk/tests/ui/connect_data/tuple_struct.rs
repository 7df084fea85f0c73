//! A struct without names.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Pair(i64, i64); //~ ERROR the fields of a Connect struct have names
