//! A direct sink takes records by value.

use connect_sdk::prelude::*;
use given::Settings;

struct Print {}

#[sink_connector(name = "print")]
impl DirectSink for Print {
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self {})
    }
    async fn put(&mut self, records: Vec<SinkRecord>, cx: &mut PutCx) -> Result<()> { //~ ERROR method `put` has an incompatible type for trait
        Ok(())
    }
}
