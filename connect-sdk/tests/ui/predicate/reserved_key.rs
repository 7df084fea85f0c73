//! A key that every predicate has.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
#[config(of = predicate)]
struct Settings {
    /// Which kind.
    r#type: String, //~ ERROR the key `type` is not free: it belongs to the framework
    /// The name is free.
    name: String,
}
