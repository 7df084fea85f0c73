//! The answer of `reject` is ignored.

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
        for record in records {
            cx.reject(record, "too long"); //~ WARN that must be used
        }
        Ok(())
    }
}
