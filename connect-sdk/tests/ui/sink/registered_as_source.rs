//! A sink is registered as a source.

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
}

fn plugins() -> Plugins {
    Plugins::new().source::<Print>() //~ ERROR `Print` is not a source connector
}
