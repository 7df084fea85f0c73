//! A direct sink clones what it was lent.

use connect_sdk::prelude::*;
use given::Settings;

struct Print {
    held: Vec<SinkRecord>,
}

#[sink_connector(name = "print")]
impl DirectSink for Print {
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self { held: vec![] })
    }
    async fn put(&mut self, records: &[SinkRecord], cx: &mut PutCx) -> Result<()> {
        self.held = records.to_vec(); //~ ERROR SinkRecord: Clone` is not satisfied
        Ok(())
    }
}
