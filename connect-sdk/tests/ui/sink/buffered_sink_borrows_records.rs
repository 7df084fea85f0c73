//! A buffered sink takes its records as a direct one.

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
    async fn put(&mut self, records: &[SinkRecord], cx: &mut PutCx) -> Result<()> { //~ ERROR method `put` has an incompatible type for trait
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(offsets) => offsets.except(&self.held),
            PreCommit::Closing(offsets) => offsets.redeliver(&self.held),
        })
    }
}
