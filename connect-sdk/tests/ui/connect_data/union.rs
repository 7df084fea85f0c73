//! A union.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
union Bits { //~ ERROR a union cannot be read
    i: i32,
    f: f32,
}
