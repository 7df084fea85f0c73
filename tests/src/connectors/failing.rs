//! Sinks with errors at moments that a test chooses.

use super::record_files::Writer;
use connect_sdk::prelude::*;
use std::{
    fs::File,
    path::PathBuf,
    time::{Duration, Instant},
};

/// The settings of [`Stubborn`].
#[derive(Debug, Clone, ConnectorConfig)]
pub struct StubbornConfig {
    /// The folder, which must be there.
    dir: PathBuf,
    /// How many puts with records fail before the first one succeeds.
    #[config(default = 3)]
    failures: u32,
    /// When a failed put may be tried again.
    #[config(default = Duration::from_millis(1000), key = "retry.after.ms")]
    retry_after: Duration,
}

/// Fails some times, then writes.
#[derive(Debug)]
pub struct Stubborn {
    writer: Writer,
    failures: u32,
    retry_after: Duration,
    last: Option<Instant>,
}

/// Asks for patience some times, then writes records to files.
#[sink_connector(name = "stubborn")]
impl DirectSink for Stubborn {
    type Config = StubbornConfig;

    async fn open(cfg: &StubbornConfig, _: &OpenCx) -> Result<Self> {
        let (failures, retry_after) = (cfg.failures, cfg.retry_after);
        Ok(Self { writer: Writer::new(&cfg.dir), failures, retry_after, last: None })
    }

    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else { return Ok(()) };
        let waited_ms = self.last.map_or(0, |at| at.elapsed().as_millis());
        tracing::info!(waited_ms, first = first.offset(), last = last.offset(), "put tried");
        self.last = Some(Instant::now());
        if self.failures > 0 {
            self.failures -= 1;
            return Err(TaskError::retriable_after("an error as configured", self.retry_after));
        }
        self.writer.write(records).retriable_after(Duration::from_millis(50))
    }
}

/// The settings of [`Mortal`].
#[derive(Debug, Clone, ConnectorConfig)]
pub struct MortalConfig {
    /// The folder, which must be there.
    dir: PathBuf,
    /// The task fails that meets a record of this value first; whoever meets it after that goes on.
    #[config(default = "poison")]
    dies_of: String,
}

/// Keeps every record until its partition closes, and may die of one.
#[derive(Debug)]
pub struct Mortal {
    writer: Writer,
    held: Vec<SinkRecord>,
    dies_of: String,
    has_died: PathBuf,
    task: u32,
    received: usize,
}

/// Keeps records until their partition closes; one task dies.
#[sink_connector(name = "mortal")]
impl BufferedSink for Mortal {
    type Config = MortalConfig;

    async fn open(cfg: &MortalConfig, cx: &OpenCx) -> Result<Self> {
        let has_died = cfg.dir.join("has-died");
        Ok(Self {
            writer: Writer::new(&cfg.dir),
            held: Vec::new(),
            dies_of: cfg.dies_of.clone(),
            has_died,
            task: cx.task().index,
            received: 0,
        })
    }

    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        let deadly = records.iter().any(|record| record.value_text() == self.dies_of);
        if deadly && File::create_new(&self.has_died).is_ok() {
            return Err(TaskError::fatal("an end as configured"));
        }
        if !records.is_empty() {
            self.received += records.len();
            self.held.extend(records);
            let (task, held, received) = (self.task, self.held.len(), self.received);
            tracing::info!(task, held, received, "records held");
        }
        Ok(())
    }

    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        match at {
            PreCommit::Running(offsets) => Ok(offsets.except(&self.held)),
            PreCommit::Closing(offsets) => {
                tracing::info!(task = self.task, reason = ?offsets.reason(), written = self.held.len(), "closing");
                self.writer.write(&self.held).retriable_after(Duration::from_millis(50))?;
                self.held.clear();
                Ok(offsets.all_written())
            }
        }
    }

    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        self.held.retain(|record| !record.is_in(partitions));
        Ok(())
    }
}
