//! One file that is followed: opened, read, found cut off or replaced.

use super::{FileStreamSource, InFile, Pos, lines::LineBuffer, watch::Watch};
use connect_sdk::prelude::*;
use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// Bytes asked of the file at a time.
const READ_BYTES: usize = 256 * 1024;
/// After a file was replaced (rotated), the old one is still read for this long: its writer may not have noticed yet.
const ROTATION_GRACE: Duration = Duration::from_secs(1);
/// Some editors put this in front of UTF-8 text; it is no part of the first line.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Whether a file has more to give.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The batch has no room for more.
    Full,
    /// Every whole line was emitted.
    Drained,
}

/// A followed file.
#[derive(Debug)]
pub(super) struct Tail {
    cursor: Cursor<InFile, Pos>,
    input: Input,
    buffer: LineBuffer,
    /// Where the next line starts, in bytes.
    position: i64,
    line_max: usize,
    /// Malformed text was reported.
    said_replaced: bool,
}

#[derive(Debug)]
enum Input {
    /// A file that is not there yet, or that was given up for its successor.
    Absent { path: PathBuf, said: bool },
    /// A file that is read.
    File(Open),
    /// Standard input.
    Stdin,
    /// Standard input has ended.
    Ended,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: Arc<File>,
    /// Device and inode: a file under the same name with another identity is another file.
    id: (u64, u64),
    /// False for pipes and devices, which have no positions.
    regular: bool,
    /// Where the next read starts.
    read_at: u64,
    /// Since when another file has its name.
    replaced_since: Option<Instant>,
}

impl Tail {
    pub(super) fn new(cursor: Cursor<InFile, Pos>, line_max: usize, watch: &mut Watch) -> Result<Self> {
        let input = match &cursor.partition().filename {
            None => Input::Stdin,
            Some(name) => {
                let path = PathBuf::from(name);
                watch.folder_of(&path);
                Input::Absent { path, said: false }
            }
        };
        let position = cursor.offset().map_or(0, |o| o.position);
        if position < 0 {
            return Err(TaskError::fatal(format!("stored position {position} of {} is negative", name_of(&input))));
        }
        Ok(Self { cursor, input, buffer: LineBuffer::default(), position, line_max, said_replaced: false })
    }

    /// Emits at most `room` lines.
    ///
    /// # Errors
    /// The file cannot be read (retriable), or is a folder or has a line beyond the limit (fatal).
    pub(super) async fn read_into(
        &mut self,
        out: &mut Batch<FileStreamSource>,
        topic: &str,
        mut room: usize,
        watch: &mut Watch,
    ) -> Result<Progress> {
        loop {
            while room > 0 && !out.is_full() {
                let Some(line) = self.buffer.next_line() else { break };
                if line.replaced && !self.said_replaced {
                    self.said_replaced = true;
                    let file = name_of(&self.input);
                    tracing::warn!(%file, position = self.position, "text is not UTF-8; malformed bytes are replaced");
                }
                self.position += i64::try_from(line.len).fatal()?;
                room -= 1;
                out.emit(&mut self.cursor, Record::to(topic).value(line.text), Pos { position: self.position });
            }
            if room == 0 || out.is_full() {
                return Ok(Progress::Full);
            }
            if self.buffer.len() > self.line_max {
                return Err(TaskError::fatal(format!(
                    "the line at byte {} of {} is longer than `line.max.bytes` ({} bytes); raise it or repair the file",
                    self.position,
                    name_of(&self.input),
                    self.line_max
                )));
            }
            if !self.read_more(out, topic, watch).await? {
                return Ok(Progress::Drained);
            }
        }
    }

    /// Reads once. False if there is nothing to read for now.
    async fn read_more(&mut self, out: &mut Batch<FileStreamSource>, topic: &str, watch: &mut Watch) -> Result<bool> {
        match &mut self.input {
            Input::Ended => Ok(false),
            Input::Stdin => {
                let buffer = self.buffer.take_bytes();
                let n = self.put_back(blocking(buffer, |more| io::stdin().lock().read(more)).await)?;
                if n == 0 {
                    self.input = Input::Ended;
                    self.emit_rest(out, topic)?;
                }
                Ok(n > 0)
            }
            Input::Absent { path, said } => match open(path, self.position, watch).await? {
                None => {
                    if !std::mem::replace(said, true) {
                        tracing::warn!(file = %path.display(), "file does not exist; waiting for it");
                    }
                    Ok(false)
                }
                Some(opened) => {
                    self.position = i64::try_from(opened.read_at).fatal()?;
                    self.input = Input::File(opened);
                    Ok(true)
                }
            },
            Input::File(open) => {
                let (file, regular, at) = (Arc::clone(&open.file), open.regular, open.read_at);
                let buffer = self.buffer.take_bytes();
                let read =
                    blocking(buffer, move |more| if regular { file.read_at(more, at) } else { (&*file).read(more) });
                let n = self.put_back(read.await)?;
                if n == 0 {
                    return self.at_end(out, topic);
                }
                if let Input::File(open) = &mut self.input {
                    open.read_at += n as u64;
                }
                if self.position == 0 && self.buffer.starts_with(BOM) {
                    self.buffer.skip(BOM.len());
                    self.position = i64::try_from(BOM.len()).fatal()?;
                }
                Ok(true)
            }
        }
    }

    fn put_back(&mut self, read: Result<(Vec<u8>, io::Result<usize>)>) -> Result<usize> {
        let (bytes, n) = read?;
        self.buffer.put_back(bytes);
        n.retriable()
    }

    /// Nothing is left to read: was the file cut off, or replaced by another? True if reading may go on at once.
    fn at_end(&mut self, out: &mut Batch<FileStreamSource>, topic: &str) -> Result<bool> {
        let Input::File(open) = &mut self.input else { return Ok(false) };
        if !open.regular {
            return Ok(false);
        }
        let len = open.file.metadata().retriable()?.len();
        if len < open.read_at {
            tracing::warn!(file = %open.path.display(), position = self.position, len, "file was truncated; reading it from its start");
            open.read_at = 0;
            self.position = 0;
            self.buffer.clear();
            return Ok(len > 0);
        }
        let replaced = match fs::metadata(&open.path) {
            Ok(now) => (now.dev(), now.ino()) != open.id,
            // Renamed or deleted, and no successor yet.
            Err(e) if e.kind() == io::ErrorKind::NotFound => false,
            Err(e) => return Err(e).retriable(),
        };
        if !replaced {
            open.replaced_since = None;
            return Ok(false);
        }
        if open.replaced_since.get_or_insert_with(Instant::now).elapsed() < ROTATION_GRACE {
            return Ok(false);
        }
        let path = open.path.clone();
        tracing::info!(file = %path.display(), "file was replaced; going on with the new one from its start");
        // Nobody will end this line any more.
        self.emit_rest(out, topic)?;
        self.position = 0;
        self.buffer.clear();
        self.input = Input::Absent { path, said: true };
        Ok(true)
    }

    fn emit_rest(&mut self, out: &mut Batch<FileStreamSource>, topic: &str) -> Result<()> {
        if let Some(line) = self.buffer.take_rest() {
            self.position += i64::try_from(line.len).fatal()?;
            out.emit(&mut self.cursor, Record::to(topic).value(line.text), Pos { position: self.position });
        }
        Ok(())
    }
}

fn name_of(input: &Input) -> String {
    match input {
        Input::Absent { path, .. } | Input::File(Open { path, .. }) => format!("`{}`", path.display()),
        Input::Stdin | Input::Ended => "standard input".to_owned(),
    }
}

/// Opens a file at a position; `None` if it does not exist.
async fn open(path: &Path, position: i64, watch: &mut Watch) -> Result<Option<Open>> {
    let name = path.to_owned();
    let opened = tokio::task::spawn_blocking(move || File::open(&name).and_then(|f| f.metadata().map(|m| (f, m))));
    let (file, meta) = match opened.await.retriable()? {
        Ok(opened) => opened,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(TaskError::retriable(format!("file `{}` cannot be opened: {e}", path.display()))),
    };
    if meta.is_dir() {
        return Err(TaskError::fatal(format!("`{}` is a folder; name a file", path.display())));
    }
    // Watched before the first read, so that no change falls between the two.
    watch.file(path);
    let mut read_at = position.unsigned_abs();
    if meta.is_file() && read_at > meta.len() {
        let len = meta.len();
        tracing::warn!(file = %path.display(), position, len, "stored position is beyond the end of the file, which was truncated or replaced; reading it from its start");
        read_at = 0;
    }
    let id = (meta.dev(), meta.ino());
    Ok(Some(Open {
        path: path.to_owned(),
        file: Arc::new(file),
        id,
        regular: meta.is_file(),
        read_at,
        replaced_since: None,
    }))
}

/// Reads behind what is in the buffer, on a thread that may block.
async fn blocking(
    mut bytes: Vec<u8>,
    read: impl FnOnce(&mut [u8]) -> io::Result<usize> + Send + 'static,
) -> Result<(Vec<u8>, io::Result<usize>)> {
    tokio::task::spawn_blocking(move || {
        let old = bytes.len();
        bytes.resize(old + READ_BYTES, 0);
        let n = read(&mut bytes[old..]);
        bytes.truncate(old + *n.as_ref().unwrap_or(&0));
        (bytes, n)
    })
    .await
    .retriable()
}
