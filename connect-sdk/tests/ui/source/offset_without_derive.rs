//! The offset is not derived.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Pos {
    i: i64,
}

struct Nums {
    at: Cursor<Part, Pos>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Source for Nums {
    type Config = Settings;
    type Partition = Part;
    type Offset = Pos; //~ ERROR needs `#[derive(SourceOffset)]`, on a struct of your own

    async fn partitions(_: &Settings) -> Result<Vec<Part>> {
        Ok(vec![])
    }
    async fn open(_: &Settings, at: Cursors<Part, Pos>) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
