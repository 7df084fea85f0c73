//! `FileStreamSource`: tails files, each line a record, each position counted in bytes.

mod lines;
mod tail;
mod watch;

use connect_sdk::prelude::*;
use std::time::Duration;
use tail::{Progress, Tail};
use watch::Watch;

/// Files are looked at this often even if the system announces nothing: truncation and some network file systems are
/// noticed in no other way.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// The settings of [`FileStreamSource`].
#[derive(Debug, Clone, ConnectorConfig)]
#[config(check = one_input)]
pub struct FileSourceConfig {
    /// Source filename. If not specified, the standard input will be used
    #[config(importance = high)]
    file: Option<String>,
    /// Source filenames, spread over the tasks; not together with `file`.
    #[config(importance = high, default = [])]
    files: Vec<String>,
    /// The topic to publish data to
    #[config(importance = high, check = not_empty)]
    topic: String,
    /// The maximum number of records the source task can read from the file each time it is polled
    #[config(importance = low, default = 2000, key = "batch.size")]
    batch_size: i32,
    /// The longest line in bytes; a longer one makes the task fail and is not skipped.
    #[config(importance = low, default = 16_777_216, range = 1..=1_073_741_824, key = "line.max.bytes")]
    line_max_bytes: i32,
}

#[expect(clippy::ptr_arg, reason = "a check takes the field's own type")]
fn not_empty(topic: &String) -> Result<(), &'static str> {
    if topic.is_empty() { Err("String must be non-empty") } else { Ok(()) }
}

fn one_input(cfg: &FileSourceConfig) -> Result<(), String> {
    if cfg.file().is_some() && !cfg.files.is_empty() {
        return Err("`file` and `files` exclude each other; give one of them".to_owned());
    }
    let mut names: Vec<&str> = cfg.files.iter().map(String::as_str).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
        return Err(format!("`files` names `{}` twice", twice[0]));
    }
    if names.first().is_some_and(|n| n.is_empty()) {
        return Err("`files` has an empty name".to_owned());
    }
    Ok(())
}

impl FileSourceConfig {
    /// The one file, if any: as in Java an empty name means standard input too.
    fn file(&self) -> Option<&str> {
        self.file.as_deref().filter(|f| !f.is_empty())
    }
}

/// A file, as it is named in the configuration; `None` is standard input.
#[derive(Debug, Clone, PartialEq, Eq, SourcePartition)]
pub struct InFile {
    /// Its name; Java's form of the partition.
    pub filename: Option<String>,
}

/// Where the next line starts.
#[derive(Debug, Clone, PartialEq, Eq, SourceOffset)]
pub struct Pos {
    /// In bytes from the start of the file. Java stores null for standard input.
    #[offset(default = 0)]
    pub position: i64,
}

/// Tails one or more files into a topic.
#[derive(Debug)]
pub struct FileStreamSource {
    tails: Vec<Tail>,
    watch: Watch,
    topic: String,
    batch_size: usize,
    /// The file that is asked first in the next poll, so that a busy one does not starve the others.
    next: usize,
}

/// Tails files into a topic, a record for each line.
#[source_connector(
    name = "FileStreamSource",
    java = "org.apache.kafka.connect.file.FileStreamSourceConnector",
    version = "4.3.1",
    exactly_once = supported,
    replay_test = tests::a_file
)]
impl Source for FileStreamSource {
    type Config = FileSourceConfig;
    type Partition = InFile;
    type Offset = Pos;

    async fn partitions(cfg: &FileSourceConfig) -> Result<Vec<InFile>> {
        if cfg.files.is_empty() {
            return Ok(vec![InFile { filename: cfg.file().map(str::to_owned) }]);
        }
        Ok(cfg.files.iter().map(|f| InFile { filename: Some(f.clone()) }).collect())
    }

    async fn open(cfg: &FileSourceConfig, at: Cursors<InFile, Pos>) -> Result<Self> {
        let line_max = usize::try_from(cfg.line_max_bytes).fatal()?;
        let mut watch = Watch::new();
        let mut tails = Vec::with_capacity(at.len());
        for cursor in at {
            tails.push(Tail::new(cursor, line_max, &mut watch)?);
        }
        // As in Java a batch size below one still reads.
        let batch_size = usize::try_from(cfg.batch_size).unwrap_or(1).max(1);
        Ok(Self { tails, watch, topic: cfg.topic.clone(), batch_size, next: 0 })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        loop {
            let n = self.tails.len();
            for i in 0..n {
                let at = (self.next + i) % n;
                let room = self.batch_size.saturating_sub(out.len());
                if room == 0 || out.is_full() {
                    break;
                }
                if self.tails[at].read_into(out, &self.topic, room, &mut self.watch).await? == Progress::Full {
                    self.next = (at + 1) % n;
                    return Ok(());
                }
            }
            if !out.is_empty() {
                return Ok(());
            }
            self.watch.changed(SCAN_INTERVAL).await.retriable()?;
        }
    }

    fn viable(cfg: &FileSourceConfig) -> Viable {
        if cfg.file().is_none() && cfg.files.is_empty() {
            return Viable::No("standard input cannot be read again; set `file` or `files`".to_owned());
        }
        Viable::Yes
    }
}

#[cfg(test)]
mod tests;
