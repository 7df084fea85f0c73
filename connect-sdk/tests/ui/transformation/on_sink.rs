//! The attribute stands on a sink.

use connect_sdk::prelude::*;
use given::Settings;

struct Print;

#[transformation]
impl DirectSink for Print { //~ ERROR `DirectSink` is for a sink: use `#[sink_connector(name = "..")]`
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self)
    }
    async fn put(&mut self, _: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        Ok(())
    }
}
