//! Nothing is answered.

use connect_sdk::prelude::*;
use given::Settings;

struct Lines {
    held: Vec<SinkRecord>,
}

#[sink_connector(name = "lines")]
impl BufferedSink for Lines {
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self { held: vec![] })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, cx: &mut PutCx) -> Result<()> {
        self.held.extend(records);
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(()) //~ ERROR expected `Safe<
    }
}
