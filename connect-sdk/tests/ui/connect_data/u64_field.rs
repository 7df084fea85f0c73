//! A number that Connect does not have.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    id: u64, //~ ERROR unsigned types other than `u16` and `u32` have no Connect type
}
