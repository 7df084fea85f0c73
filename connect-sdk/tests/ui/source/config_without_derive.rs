//! The configuration is not derived.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Mine {
    topic: String,
}

struct Nums {
    at: Cursor<Part, At>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Source for Nums {
    type Config = Mine; //~ ERROR needs `#[derive(ConnectorConfig)]`, on a struct of your own
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Mine) -> Result<Vec<Part>> {
        Ok(vec![])
    }
    async fn open(_: &Mine, at: Cursors<Part, At>) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
