//! Sinks that lose nothing: one that collects records, and one that takes its time.

use super::record_files::Writer;
use connect_sdk::prelude::*;
use std::{path::PathBuf, time::Duration};
use tokio::time::Instant;

/// The settings of [`Files`].
#[derive(Debug, Clone, ConnectorConfig)]
pub struct FilesConfig {
    /// The folder, which must be there.
    dir: PathBuf,
    /// Records are written once so many have come together.
    #[config(default = 100, range = 1..)]
    flush_records: usize,
    /// Or when the first of them has waited so long; 0 is no limit.
    #[config(default = Duration::ZERO)]
    flush_interval: Duration,
}

/// Collects records and writes them together, with the last commit of a partition at the latest.
#[derive(Debug)]
pub struct Files {
    writer: Writer,
    held: Vec<SinkRecord>,
    /// When the held records have waited long enough.
    due: Option<Instant>,
    cfg: FilesConfig,
}

impl Files {
    fn flush(&mut self) -> Result<()> {
        self.writer.write(&self.held).retriable_after(Duration::from_millis(50))?;
        self.held.clear();
        self.due = None;
        Ok(())
    }
}

/// Writes records to files, many at a time.
#[sink_connector(name = "files")]
impl BufferedSink for Files {
    type Config = FilesConfig;

    async fn open(cfg: &FilesConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { writer: Writer::new(&cfg.dir), held: Vec::new(), due: None, cfg: cfg.clone() })
    }

    async fn put(&mut self, records: Vec<SinkRecord>, cx: &mut PutCx) -> Result<()> {
        self.held.extend(records);
        if self.held.len() >= self.cfg.flush_records || self.due.is_some_and(|due| Instant::now() >= due) {
            return self.flush();
        }
        if !self.held.is_empty() {
            tracing::info!(held = self.held.len(), "records held");
            if !self.cfg.flush_interval.is_zero() {
                self.due.get_or_insert(Instant::now() + self.cfg.flush_interval);
                cx.wake_after(self.cfg.flush_interval);
            }
        }
        Ok(())
    }

    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        match at {
            PreCommit::Running(offsets) => Ok(offsets.except(&self.held)),
            PreCommit::Closing(offsets) => {
                self.flush()?;
                Ok(offsets.all_written())
            }
        }
    }

    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        self.held.retain(|record| !record.is_in(partitions));
        Ok(())
    }
}

/// The settings of [`Slow`].
#[derive(Debug, Clone, ConnectorConfig)]
pub struct SlowConfig {
    /// The folder, which must be there.
    dir: PathBuf,
    /// How long each put with records takes.
    #[config(default = Duration::from_millis(100))]
    delay: Duration,
    /// Whether it holds its thread meanwhile, as no sink should.
    #[config(default = false)]
    blocking: bool,
}

/// Sleeps in each put, then writes.
#[derive(Debug)]
pub struct Slow {
    writer: Writer,
    delay: Duration,
    blocking: bool,
}

/// Writes records to files and takes its time.
#[sink_connector(name = "slow")]
impl DirectSink for Slow {
    type Config = SlowConfig;

    async fn open(cfg: &SlowConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { writer: Writer::new(&cfg.dir), delay: cfg.delay, blocking: cfg.blocking })
    }

    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        tracing::info!(records = records.len(), "put begins");
        if self.blocking {
            let end = Instant::now() + self.delay;
            while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
                std::thread::park_timeout(left);
            }
        } else {
            tokio::time::sleep_until(Instant::now() + self.delay).await;
        }
        self.writer.write(records).retriable_after(Duration::from_millis(50))
    }
}
