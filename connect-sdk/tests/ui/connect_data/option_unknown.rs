//! An option is misspelt.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Order {
    #[connect(renmae = "orderId")] //~ ERROR did you mean `rename`?
    id: i64,
}
