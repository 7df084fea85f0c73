//! Sources that promise less than `numbers` does: one record each, then nothing more.

use connect_sdk::prelude::*;

/// The settings of both.
#[derive(Debug, Clone, ConnectorConfig)]
pub struct PromiseConfig {
    /// The topic.
    topic: String,
}

/// The only partition.
#[derive(Debug, Clone, PartialEq, Eq, SourcePartition)]
pub struct Only {
    /// Always `only`.
    pub name: String,
}

/// Whether the record was emitted.
#[derive(Debug, Clone, PartialEq, Eq, SourceOffset)]
pub struct Done {
    /// Always true.
    pub done: bool,
}

/// Cannot be read again.
#[derive(Debug)]
pub struct Unrepeatable {
    at: Cursor<Only, Done>,
    topic: String,
}

/// Can be read again, but nobody has tried.
#[derive(Debug)]
pub struct Untested {
    at: Cursor<Only, Done>,
    topic: String,
}

/// Emits one record.
#[source_connector(name = "unrepeatable", exactly_once = unsupported(why = "its queue forgets what it has handed out"))]
impl Source for Unrepeatable {
    type Config = PromiseConfig;
    type Partition = Only;
    type Offset = Done;

    async fn partitions(_: &PromiseConfig) -> Result<Vec<Only>> {
        Ok(vec![Only { name: "only".to_owned() }])
    }

    async fn open(cfg: &PromiseConfig, at: Cursors<Only, Done>) -> Result<Self> {
        Ok(Self { at: at.only()?, topic: cfg.topic.clone() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        if self.at.offset().is_some() {
            return std::future::pending().await;
        }
        out.emit(&mut self.at, Record::to(&self.topic).value("the record"), Done { done: true });
        Ok(())
    }
}

/// Emits one record.
#[source_connector(name = "untested", exactly_once = supported(untested = "it needs a mainframe"))]
impl Source for Untested {
    type Config = PromiseConfig;
    type Partition = Only;
    type Offset = Done;

    async fn partitions(_: &PromiseConfig) -> Result<Vec<Only>> {
        Ok(vec![Only { name: "only".to_owned() }])
    }

    async fn open(cfg: &PromiseConfig, at: Cursors<Only, Done>) -> Result<Self> {
        Ok(Self { at: at.only()?, topic: cfg.topic.clone() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        if self.at.offset().is_some() {
            return std::future::pending().await;
        }
        out.emit(&mut self.at, Record::to(&self.topic).value("the record"), Done { done: true });
        Ok(())
    }
}
