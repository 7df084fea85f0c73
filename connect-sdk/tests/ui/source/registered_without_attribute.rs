//! A source without the attribute is registered.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums {
    at: Cursor<Part, At>,
}

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

fn plugins() -> Plugins {
    Plugins::new().source::<Nums>() //~ ERROR this type has no `#[source_connector(..)]` on its `impl Source`
}
