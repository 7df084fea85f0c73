//! The configuration says that it is that of a predicate.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
#[config(of = predicate)]
struct Settings {
    /// The name.
    name: String,
}

#[transformation]
fn upper(config: &Settings, record: ConnectRecord) -> ConnectRecord { //~ ERROR this configuration says `#[config(of = predicate)]`, but belongs to a transformation; write `of = transformation`
    record
}
