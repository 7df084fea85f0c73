//! The sink has no name.

use connect_sdk::prelude::*;
use given::Settings;

struct Print {}

#[sink_connector] //~ ERROR give the connector the name that users write
impl DirectSink for Print {
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self {})
    }
    async fn put(&mut self, records: &[SinkRecord], cx: &mut PutCx) -> Result<()> {
        Ok(())
    }
}
