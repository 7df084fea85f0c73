//! A direct sink expects to flush.

use connect_sdk::prelude::*;
use given::Settings;

struct Print {}

#[sink_connector(name = "print")]
impl DirectSink for Print {
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self {})
    }
    async fn put(&mut self, records: &[SinkRecord], cx: &mut PutCx) -> Result<()> {
        Ok(())
    }
    async fn flush(&mut self) -> Result<()> { //~ ERROR To keep records for later write `impl BufferedSink`
        Ok(())
    }
}
