//! The connector borrows.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums<'a> {
    at: Cursor<Part, At>,
    name: &'a str,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl<'a> Source for Nums<'a> //~ ERROR a connector cannot be generic
where
    'a: 'static,
{
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
