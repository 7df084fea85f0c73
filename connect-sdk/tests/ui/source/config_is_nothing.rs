//! There is no configuration.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums {
    at: Cursor<Part, At>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Source for Nums {
    type Config = (); //~ ERROR a connector without settings has a struct without fields
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &()) -> Result<Vec<Part>> {
        Ok(vec![])
    }
    async fn open(_: &(), at: Cursors<Part, At>) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
