//! The attribute stands on an impl without a trait.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums;

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Nums { //~ ERROR not on an impl without a trait
    async fn poll(&mut self) {}
}
