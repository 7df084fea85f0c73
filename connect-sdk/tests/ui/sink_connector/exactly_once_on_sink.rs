//! A sink promises exactly-once.

use connect_sdk::prelude::*;
use given::Settings;

struct Print {}

#[sink_connector(
    name = "print",
    exactly_once = supported //~ ERROR `exactly_once` is an argument of `#[source_connector(..)]` only
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
