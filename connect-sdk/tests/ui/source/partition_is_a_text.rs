//! A partition is a plain text.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums {
    at: Cursor<String, At>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Source for Nums {
    type Config = Settings;
    type Partition = String; //~ ERROR needs `#[derive(SourcePartition)]`, on a struct of your own
    type Offset = At;

    async fn partitions(_: &Settings) -> Result<Vec<String>> {
        Ok(vec![])
    }
    async fn open(_: &Settings, at: Cursors<String, At>) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
