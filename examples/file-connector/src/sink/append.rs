//! One file, or standard output: lines are appended.

use connect_sdk::prelude::*;
use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::task::JoinHandle;

/// Bytes read at a time when the end of the last whole line is looked for.
const SEARCH_BYTES: u64 = 64 * 1024;

/// Appends to one target.
///
/// A put formats its records and hands the bytes to a thread that writes them, while the next records are on their way; a
/// commit waits until they are written and flushed to disk.
#[derive(Debug)]
pub(super) struct Append {
    target: Arc<Target>,
    /// The write that is under way; it gives its buffer back.
    writing: Option<JoinHandle<io::Result<Vec<u8>>>>,
    spare: Vec<u8>,
}

/// Where the lines go.
#[derive(Debug)]
enum Target {
    File { path: PathBuf, file: File },
    Stdout,
}

impl Append {
    /// Opens the file, or standard output for none.
    pub(super) async fn open(name: Option<&str>) -> Result<Self> {
        let target = match name {
            None => Target::Stdout,
            Some(name) => {
                let path = PathBuf::from(name);
                let opened = tokio::task::spawn_blocking(move || open(&path).map(|file| Target::File { path, file }));
                opened.await.retriable()??
            }
        };
        Ok(Self { target: Arc::new(target), writing: None, spare: Vec::new() })
    }

    pub(super) async fn put(&mut self, records: Vec<SinkRecord>) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let mut lines = std::mem::take(&mut self.spare);
        for record in &records {
            lines.extend_from_slice(record.value_text().as_bytes());
            lines.push(b'\n');
        }
        drop(records);
        self.written().await?;
        let target = Arc::clone(&self.target);
        self.writing = Some(tokio::task::spawn_blocking(move || {
            target.append(&lines)?;
            lines.clear();
            Ok(lines)
        }));
        Ok(())
    }

    pub(super) async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        self.written().await?;
        let target = Arc::clone(&self.target);
        let synced = tokio::task::spawn_blocking(move || target.sync()).await.retriable()?;
        synced.map_err(|e| self.target.error("flushed to disk", &e))?;
        Ok(match at {
            PreCommit::Running(offsets) => offsets.all(),
            PreCommit::Closing(offsets) => offsets.all_written(),
        })
    }

    /// Waits for the write that is under way.
    pub(super) async fn written(&mut self) -> Result<()> {
        if let Some(writing) = self.writing.take() {
            self.spare = writing.await.retriable()?.map_err(|e| self.target.error("written", &e))?;
        }
        Ok(())
    }
}

impl Target {
    /// Appends whole lines, or nothing: what a failed write has left is cut off again.
    fn append(&self, lines: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(lines)?;
                out.flush()
            }
            Self::File { file, .. } => {
                locked(file, |mut file| {
                    let before = file.metadata()?;
                    file.write_all(lines).inspect_err(|_| {
                    if before.is_file() && file.set_len(before.len()).is_err() {
                        tracing::error!("a half-written line could not be cut off; it is cut off when the task opens the file again");
                    }
                })
                })
            }
        }
    }

    fn sync(&self) -> io::Result<()> {
        match self {
            Self::File { file, .. } if file.metadata()?.is_file() => file.sync_data(),
            _ => Ok(()),
        }
    }

    fn error(&self, what: &str, error: &io::Error) -> TaskError {
        match self {
            Self::Stdout => TaskError::retriable(format!("standard output cannot be {what}: {error}")),
            Self::File { path, .. } => {
                TaskError::retriable(format!("file `{}` cannot be {what}: {error}", path.display()))
            }
        }
    }
}

/// Opens the file for appending, after cutting off a line that a killed process left unfinished: its record was not
/// committed and comes again.
fn open(path: &Path) -> Result<File> {
    let fail = |e: io::Error| format!("file `{}` cannot be opened for appending: {e}", path.display());
    let file = OpenOptions::new().append(true).read(true).create(true).open(path).or_else(|e| match e.kind() {
        // Pipes and write-only files have nothing to repair.
        io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput => OpenOptions::new().append(true).open(path),
        _ => Err(e),
    });
    let file = file.map_err(fail).fatal()?;
    if file.metadata().map_err(fail).fatal()?.is_file() {
        let cut = locked(&file, cut_torn_line).map_err(fail).retriable()?;
        if cut > 0 {
            tracing::warn!(file = %path.display(), bytes = cut, "an unfinished last line was cut off; its record will be delivered again");
        }
    }
    Ok(file)
}

/// Bytes behind the last line end are removed; answers how many.
fn cut_torn_line(mut file: &File) -> io::Result<u64> {
    let len = file.metadata()?.len();
    let mut end = len;
    let mut part = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(SEARCH_BYTES);
        file.seek(SeekFrom::Start(start))?;
        part.clear();
        file.take(end - start).read_to_end(&mut part)?;
        if let Some(newline) = memchr::memrchr(b'\n', &part) {
            end = start + newline as u64 + 1;
            break;
        }
        end = start;
    }
    if end < len {
        file.set_len(end)?;
    }
    Ok(len - end)
}

/// Runs with the file locked against other tasks and processes that append to it.
fn locked<T>(file: &File, run: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
    // Not every file system knows locks; a single task needs none.
    let locked = match file.lock() {
        Ok(()) => true,
        Err(e) if e.kind() == io::ErrorKind::Unsupported => false,
        Err(e) => return Err(e),
    };
    let result = run(file);
    if locked {
        file.unlock()?;
    }
    result
}
