//! A source: one record for each line of a file.

use connect_sdk::prelude::*;
use std::{io::SeekFrom, path::PathBuf};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncSeekExt, BufReader},
};

/// The settings of [`FileLines`].
#[derive(Debug, ConnectorConfig)]
pub struct FileConfig {
    /// The file to read.
    path: PathBuf,
    /// The topic its lines go to.
    topic: String,
}

/// What is read in order: one file.
#[derive(Debug, SourcePartition)]
pub struct InFile {
    /// The name of the file.
    pub filename: String,
}

/// Where the next line starts.
#[derive(Debug, SourceOffset)]
pub struct Pos {
    /// In bytes from the start of the file.
    pub position: i64,
}

/// The task.
#[derive(Debug)]
pub struct FileLines {
    at: Cursor<InFile, Pos>,
    file: BufReader<File>,
    line: String,
    topic: String,
}

/// One record for each line of a file.
#[source_connector(name = "file-lines", exactly_once = supported, replay_test = tests::a_file)]
impl Source for FileLines {
    type Config = FileConfig;
    type Partition = InFile;
    type Offset = Pos;

    async fn partitions(cfg: &FileConfig) -> Result<Vec<InFile>> {
        Ok(vec![InFile { filename: cfg.path.display().to_string() }])
    }

    async fn open(cfg: &FileConfig, at: Cursors<InFile, Pos>) -> Result<Self> {
        let at = at.only()?;
        let mut file = File::open(&cfg.path).await.retriable()?;
        file.seek(SeekFrom::Start(at.offset().map_or(0, |p| p.position.unsigned_abs()))).await.fatal()?;
        Ok(Self { at, file: BufReader::new(file), line: String::new(), topic: cfg.topic.clone() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        while !out.is_full() && self.file.read_line(&mut self.line).await.retriable()? > 0 && self.line.ends_with('\n')
        {
            let line = std::mem::take(&mut self.line);
            let position = self.at.offset().map_or(0, |p| p.position) + i64::try_from(line.len()).fatal()?;
            out.emit(
                &mut self.at,
                Record::to(&self.topic).value(line.trim_end_matches(['\r', '\n'])),
                Pos { position },
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
