//! The configuration of a transformation in a sink.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
#[config(of = transformation)]
struct Settings {
    /// Free in transformations.
    name: String,
}

struct Print;

#[sink_connector(name = "print")]
impl DirectSink for Print {
    type Config = Settings; //~ ERROR this configuration says `#[config(of = transformation)]`, but belongs to a connector; leave `of` out

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self)
    }
    async fn put(&mut self, _: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        Ok(())
    }
}
