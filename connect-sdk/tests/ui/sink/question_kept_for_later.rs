//! A question is kept to be answered at a later commit.

use connect_sdk::prelude::*;
use given::Settings;

struct Lines {
    held: Vec<SinkRecord>,
    last: Option<PreCommit<'static>>,
}

#[sink_connector(name = "lines")]
impl BufferedSink for Lines {
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self { held: vec![], last: None })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, cx: &mut PutCx) -> Result<()> {
        self.held.extend(records);
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        self.last = Some(at); //~ ERROR lifetime may not live long enough
        Err(TaskError::fatal("later"))
    }
}
