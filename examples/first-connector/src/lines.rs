//! A sink: appends record values to a file, one a line.

use connect_sdk::prelude::*;
use std::path::PathBuf;
use tokio::{
    fs::{File, OpenOptions},
    io::AsyncWriteExt,
};

/// The settings of [`Lines`].
#[derive(Debug, ConnectorConfig)]
pub struct LinesConfig {
    /// The file to append to.
    path: PathBuf,
    /// Write once this many records have come together.
    #[config(default = 1000, range = 1..)]
    flush_size: usize,
}

/// The task.
#[derive(Debug)]
pub struct Lines {
    file: File,
    flush_size: usize,
    held: Vec<SinkRecord>,
}

impl Lines {
    async fn write(&mut self) -> Result<()> {
        for record in &self.held {
            self.file.write_all(format!("{}\n", record.value_text()).as_bytes()).await.retriable()?;
        }
        self.file.sync_data().await.retriable()?;
        self.held.clear();
        Ok(())
    }
}

/// Appends record values to a file, one a line.
#[sink_connector(name = "lines")]
impl BufferedSink for Lines {
    type Config = LinesConfig;

    async fn open(cfg: &LinesConfig, _: &OpenCx) -> Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(&cfg.path).await.fatal()?;
        Ok(Self { file, flush_size: cfg.flush_size, held: vec![] })
    }

    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        self.held.extend(records);
        if self.held.len() >= self.flush_size { self.write().await } else { Ok(()) }
    }

    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(offsets) => offsets.except(&self.held),
            PreCommit::Closing(offsets) => {
                self.write().await?;
                offsets.all_written()
            }
        })
    }

    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        self.held.retain(|record| !record.is_in(partitions));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
