//! There is no way to open the source.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums {
    at: Cursor<Part, At>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Source for Nums { //~ ERROR missing: `open`
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Settings) -> Result<Vec<Part>> {
        Ok(vec![])
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
