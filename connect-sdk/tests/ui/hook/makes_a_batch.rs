//! A hook makes a batch to emit into.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums {
    at: Cursor<Part, At>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"), on_commit = Cleaner)]
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
}

struct Cleaner;

impl CommitHook for Cleaner {
    type Source = Nums;

    async fn connect(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self)
    }
    async fn committed(&mut self, done: Committed<'_, Nums>) -> Result<()> {
        let out = Batch::<Nums>::default(); //~ ERROR named `default` found for struct
        Ok(())
    }
}
