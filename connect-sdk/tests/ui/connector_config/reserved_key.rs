//! The key belongs to the framework.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    tasks_max: i32, //~ ERROR the key `tasks.max` is not free: it belongs to the framework
}
