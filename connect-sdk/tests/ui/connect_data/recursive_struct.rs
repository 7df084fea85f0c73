//! A struct contains itself.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Node {
    children: Vec<Node>, //~ ERROR `Node` contains itself, which a Connect schema cannot
}
