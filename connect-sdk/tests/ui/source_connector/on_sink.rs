//! The attribute stands on a sink.

use connect_sdk::prelude::*;
use given::Settings;

struct Print;

#[source_connector(name = "print", exactly_once = supported(untested = "a case"))]
impl DirectSink for Print { //~ ERROR `DirectSink` is a sink: use `#[sink_connector(name = "..")]`
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self)
    }
    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        Ok(())
    }
}
