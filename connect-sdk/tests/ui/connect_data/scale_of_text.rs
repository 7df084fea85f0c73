//! A text has a scale.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    #[connect(scale = 2)]
    price: String, //~ ERROR is not a decimal, but its field has a `scale`
}
