//! Two fields have one key.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    batch_size: i32,
    /// Said.
    #[config(key = "batch.size")] //~ ERROR `batch_size` and `limit` both have the key `batch.size`
    limit: i32,
}
