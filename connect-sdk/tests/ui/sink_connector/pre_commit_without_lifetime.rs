//! `pre_commit` leaves its lifetimes out.

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
    async fn pre_commit(&mut self, at: PreCommit<'_>) -> Result<Safe<'_>> { //~ ERROR write out the lifetime that ties the answer to its question
        Ok(match at {
            PreCommit::Running(offsets) => offsets.except(&self.held),
            PreCommit::Closing(offsets) => offsets.redeliver(&self.held),
        })
    }
}
