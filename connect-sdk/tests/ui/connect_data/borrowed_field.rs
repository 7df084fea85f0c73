//! A struct borrows.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order<'a> { //~ ERROR data cannot borrow
    name: &'a str,
}
