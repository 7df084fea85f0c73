//! A decimal has no scale.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    price: connect_sdk::data::Decimal, //~ ERROR a decimal needs a scale
}
