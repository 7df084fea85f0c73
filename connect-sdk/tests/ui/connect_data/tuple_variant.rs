//! A variant has two values without names.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
enum Pay {
    Card(String, i32), //~ ERROR the content of `Card` needs names
    Cash,
}
