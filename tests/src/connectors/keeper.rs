//! `keeper`: a sink that keeps every record and answers `pre_commit` as it is told, which may be wrong on purpose.

use super::record_files::Writer;
use connect_sdk::prelude::*;
use std::{path::PathBuf, time::Duration};

/// What [`Keeper`] answers while its partitions are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ConfigEnum)]
pub enum RunningAnswer {
    /// That the kept records are not safe, which is true.
    Except,
    /// That nothing new is safe, which is true.
    None,
    /// That everything is safe, which is false while a record is kept.
    All,
}

/// What [`Keeper`] answers when partitions close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ConfigEnum)]
pub enum ClosingAnswer {
    /// It writes what it keeps and says that all is written, which is true.
    Write,
    /// That the kept records must be delivered again, which is true.
    Redeliver,
    /// That all is written, which is false while a record is kept.
    Claim,
}

/// The settings of [`Keeper`].
#[derive(Debug, Clone, ConnectorConfig)]
pub struct KeeperConfig {
    /// The folder, which must be there.
    dir: PathBuf,
    /// The answer to a regular commit.
    #[config(default = RunningAnswer::Except)]
    running: RunningAnswer,
    /// The answer to the last commit of partitions.
    #[config(default = ClosingAnswer::Write)]
    closing: ClosingAnswer,
}

/// Keeps every record until its partition closes.
#[derive(Debug)]
pub struct Keeper {
    writer: Writer,
    held: Vec<SinkRecord>,
    running: RunningAnswer,
    closing: ClosingAnswer,
    task: u32,
    received: usize,
}

/// Keeps records until their partition closes.
#[sink_connector(name = "keeper")]
impl BufferedSink for Keeper {
    type Config = KeeperConfig;

    async fn open(cfg: &KeeperConfig, cx: &OpenCx) -> Result<Self> {
        let writer = Writer::new(&cfg.dir);
        Ok(Self {
            writer,
            held: Vec::new(),
            running: cfg.running,
            closing: cfg.closing,
            task: cx.task().index,
            received: 0,
        })
    }

    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        if !records.is_empty() {
            self.received += records.len();
            self.held.extend(records);
            let (task, held, received) = (self.task, self.held.len(), self.received);
            tracing::info!(task, held, received, "records held");
        }
        Ok(())
    }

    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(offsets) => match self.running {
                RunningAnswer::Except => offsets.except(&self.held),
                RunningAnswer::None => offsets.none(),
                RunningAnswer::All => offsets.all(),
            },
            PreCommit::Closing(offsets) => match self.closing {
                ClosingAnswer::Write => {
                    self.writer.write(&self.held).retriable_after(Duration::from_millis(50))?;
                    self.held.clear();
                    offsets.all_written()
                }
                ClosingAnswer::Redeliver => offsets.redeliver(&self.held),
                ClosingAnswer::Claim => offsets.all_written(),
            },
        })
    }

    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        self.held.retain(|record| !record.is_in(partitions));
        Ok(())
    }
}
