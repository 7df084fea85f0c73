//! Every argument is wrong in its own way.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums {
    at: Cursor<Part, At>,
}

#[source_connector(
    name = 7, //~ ERROR this is not a value for `name`
    exactly_once = perhaps, //~ ERROR `exactly_once` cannot be `perhaps`
    transaction_boundaries = poll, //~ ERROR `poll` is the operator's choice
    on_comit = Nums, //~ ERROR did you mean `on_commit`?
)]
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
