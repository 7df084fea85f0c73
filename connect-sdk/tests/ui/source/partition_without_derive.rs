//! The partition is not derived.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct File {
    name: String,
}

struct Nums {
    at: Cursor<File, At>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Source for Nums {
    type Config = Settings;
    type Partition = File; //~ ERROR needs `#[derive(SourcePartition)]`, on a struct of your own
    type Offset = At;

    async fn partitions(_: &Settings) -> Result<Vec<File>> {
        Ok(vec![])
    }
    async fn open(_: &Settings, at: Cursors<File, At>) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
