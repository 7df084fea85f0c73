//! An option in an option.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    note: Option<Option<String>>, //~ ERROR cannot be told apart
}
