//! A sink without the attribute is registered.

use connect_sdk::prelude::*;
use given::Settings;

struct Print {}

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
    Plugins::new().sink::<Print>() //~ ERROR this type has no `#[sink_connector(..)]`
}
