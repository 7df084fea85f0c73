//! The source owns a value that cannot change threads.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Nums {
    at: Cursor<Part, At>,
    n: std::rc::Rc<i64>,
}

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
impl Source for Nums { //~ ERROR cannot be sent between threads safely //~ ERROR cannot be sent between threads safely
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Settings) -> Result<Vec<Part>> {
        Ok(vec![])
    }
    async fn open(_: &Settings, at: Cursors<Part, At>) -> Result<Self> {
        Ok(Self { at: at.only()?, n: std::rc::Rc::new(0) })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> { //~ ERROR future cannot be sent between threads safely
        Ok(())
    }
}
