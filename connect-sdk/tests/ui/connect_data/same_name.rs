//! Two fields have one name.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
#[connect(rename_all = "camelCase")]
struct Order {
    order_id: i64,
    #[serde(rename = "orderId")]
    id: i64, //~ ERROR `order_id` and `id` are both called `orderId`
}
