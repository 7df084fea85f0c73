//! The function is registered as something else.

use connect_sdk::prelude::*;

#[predicate]
fn small(record: &ConnectRecord) -> bool {
    true
}

fn plugins() -> Plugins {
    Plugins::new().transformation::<small>() //~ ERROR this type has no `#[transformation]`
}
