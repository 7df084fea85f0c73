//! An argument is misspelt.

use connect_sdk::prelude::*;
use given::Settings;

struct Print {}

#[sink_connector(
    name = "print",
    verison = "1" //~ ERROR did you mean `version`?
)]
impl DirectSink for Print {
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self {})
    }
    async fn put(&mut self, records: &[SinkRecord], cx: &mut PutCx) -> Result<()> {
        Ok(())
    }
}
