//! The connector has a type parameter.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums<T> {
    at: Cursor<Part, At>,
    t: T,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl<T: Send + 'static> Source for Nums<T> { //~ ERROR a connector cannot be generic
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Settings) -> Result<Vec<Part>> {
        Ok(vec![])
    }
    async fn open(_: &Settings, at: Cursors<Part, At>) -> Result<Self> {
        unreachable!()
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
