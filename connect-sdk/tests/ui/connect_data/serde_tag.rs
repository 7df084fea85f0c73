//! serde gives the enum another shape.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
#[serde(tag = "type")] //~ ERROR `ConnectData` does not follow `#[serde(tag)]`
enum Pay {
    Card { number: String },
    Cash,
}
