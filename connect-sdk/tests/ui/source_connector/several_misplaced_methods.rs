//! Several methods that the trait has not.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums {
    at: Cursor<Part, At>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Source for Nums {
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Settings) -> Result<Vec<Part>> {
        Ok(vec![])
    }
    async fn open(_: &Settings, at: Cursors<Part, At>) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
    async fn commit_record(&mut self) {} //~ ERROR a source has no commit callback
    async fn flush(&mut self) {} //~ ERROR a source has nothing to flush
    fn version() -> &'static str { //~ ERROR the version is an argument of the attribute
        "1"
    }
}
