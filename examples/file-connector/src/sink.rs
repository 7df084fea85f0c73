//! `FileStreamSink`: appends record values to a file, a line each, or writes them to files whose names say which offsets
//! they hold; either way records may be committed once they are on disk.

mod append;
mod folder;

use append::Append;
use connect_sdk::prelude::*;
use folder::Folder;
use std::{num::NonZeroU64, time::Duration};

/// The settings of [`FileStreamSink`].
#[derive(Debug, Clone, ConnectorConfig)]
#[config(check = one_output)]
pub struct FileSinkConfig {
    /// Destination filename. If not specified, the standard output will be used
    #[config(importance = high)]
    file: Option<String>,
    /// The folder for files that appear whole, each named `topic+partition+start+end.txt` after the offsets that it holds:
    /// every record is in exactly one of them, whatever happens to the worker. All workers that run the connector must see
    /// the same folder. Not together with `file`.
    #[config(importance = high)]
    directory: Option<String>,
    /// A file in `directory` is finished when it has so many records.
    #[config(importance = low, default = 100_000, range = 1.., key = "file.max.records")]
    file_max_records: u64,
    /// A file in `directory` is finished so long after its first record came, at the first commit after that.
    #[config(importance = low, default = Duration::from_secs(10), key = "file.max.age.ms")]
    file_max_age: Duration,
}

fn one_output(cfg: &FileSinkConfig) -> Result<(), &'static str> {
    match (set(cfg.file.as_deref()), set(cfg.directory.as_deref())) {
        (Some(_), Some(_)) => Err("`file` and `directory` exclude each other; give one of them"),
        _ => Ok(()),
    }
}

/// As in Java an empty name is none.
fn set(name: Option<&str>) -> Option<&str> {
    name.filter(|name| !name.is_empty())
}

/// Writes record values to files.
#[derive(Debug)]
pub struct FileStreamSink(Mode);

#[derive(Debug)]
enum Mode {
    Append(Append),
    Folder(Folder),
}

/// Appends record values to a file, a line for each record, or writes files named after the offsets that they hold.
#[sink_connector(
    name = "FileStreamSink",
    java = "org.apache.kafka.connect.file.FileStreamSinkConnector",
    version = "4.3.1"
)]
impl BufferedSink for FileStreamSink {
    type Config = FileSinkConfig;

    async fn open(cfg: &FileSinkConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self(match set(cfg.directory.as_deref()) {
            None => Mode::Append(Append::open(set(cfg.file.as_deref())).await?),
            Some(name) => {
                let records_max = NonZeroU64::new(cfg.file_max_records).unwrap_or(NonZeroU64::MIN);
                Mode::Folder(Folder::open(name, records_max, cfg.file_max_age).await?)
            }
        }))
    }

    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        match &mut self.0 {
            Mode::Append(append) => append.put(records).await,
            Mode::Folder(folder) => folder.put(records).await,
        }
    }

    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        match &mut self.0 {
            Mode::Append(append) => append.pre_commit(at).await,
            Mode::Folder(folder) => folder.pre_commit(at).await,
        }
    }

    async fn assigned(&mut self, partitions: &[TopicPartition]) -> Result<StartOffsets> {
        match &mut self.0 {
            Mode::Append(_) => Ok(StartOffsets::none()),
            Mode::Folder(folder) => folder.assigned(partitions).await,
        }
    }

    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        match &mut self.0 {
            // Nothing of a partition is written once another task may have it.
            Mode::Append(append) => append.written().await,
            Mode::Folder(folder) => folder.closed(partitions).await,
        }
    }
}

#[cfg(test)]
mod tests;
