//! An error of another library is passed on without a decision.

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
        std::fs::write("x", "y")?; //~ ERROR say which: `.retriable()?` or `.fatal()?`
        Ok(())
    }
}
