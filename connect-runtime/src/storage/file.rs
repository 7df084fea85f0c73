//! `FileOffsetStore`: the offsets of a standalone worker in one file, replaced as a whole so that a crash leaves the old
//! file or the new one.

use super::{
    OffsetBackingStore, OffsetEntries, OffsetKey, Stored,
    java_map::{MAGIC, read_java_map},
};
use crate::converters::json::offsets::{decode_offset, decode_offset_key, encode_offset, encode_offset_key};
use connect_sdk::{
    erased::BoxFuture,
    error::{Result, TaskError},
    source::{OffsetMap, PartitionMap},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::{
    collections::HashMap,
    fmt,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::Mutex;

/// The version of the file's form that this code writes, and the only one that it reads.
const VERSION: u32 = 1;

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(rename = "connect.offsets")]
    version: u32,
    /// How many lines follow: a file that was cut is not taken for one with fewer offsets.
    entries: usize,
}

/// Every further line: key and value in the form of Kafka Connect's offsets topic.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    key: &'a RawValue,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// Source offsets in a file (`offset.storage.file.filename`).
///
/// Each store writes the whole file beside the old one, flushes it to disk and renames it. A file that Java's worker wrote
/// is read, and kept as `<file>.java` when it is replaced.
#[derive(Debug)]
pub(crate) struct FileOffsetStore {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    path: PathBuf,
    entries: OffsetEntries,
    /// The file on disk is Java's and must be kept when it is replaced.
    replaces_java: bool,
}

impl FileOffsetStore {
    /// Reads the file; a missing or an empty one means that there are no offsets yet.
    ///
    /// Blocks on the file system: call it before the worker serves anything, or in a blocking task.
    ///
    /// # Errors
    /// The file cannot be read, or is neither ours nor Java's: the worker must not start, since it would begin anew.
    pub(crate) fn open(path: &Path) -> Result<Self, OffsetFileError> {
        let fail = |why: String| OffsetFileError { path: path.to_owned(), why };
        let folder = folder_of(path);
        if !folder.is_dir() {
            return Err(fail(format!("its folder `{}` does not exist", folder.display())));
        }
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(fail(format!("it cannot be read: {e}"))),
        };
        let replaces_java = bytes.starts_with(&MAGIC);
        let entries = if replaces_java { parse_java(&bytes) } else { parse_ours(&bytes) }.map_err(fail)?;
        let state = State { path: path.to_owned(), entries, replaces_java };
        Ok(Self { state: Arc::new(Mutex::new(state)) })
    }
}

impl OffsetBackingStore for FileOffsetStore {
    fn load<'a>(&'a self, connector: &'a str, partitions: Vec<PartitionMap>) -> BoxFuture<'a, Result<Vec<Stored>>> {
        Box::pin(async move {
            let state = self.state.lock().await;
            let stored = |partition| {
                let offset = state.entries.get(&OffsetKey::new(connector, Some(partition)));
                offset.map_or(Stored::Unknown, |offset| Stored::Offset(offset.clone()))
            };
            Ok(partitions.into_iter().map(stored).collect())
        })
    }

    fn store<'a>(
        &'a self,
        connector: &'a str,
        offsets: Vec<(PartitionMap, Option<OffsetMap>)>,
    ) -> BoxFuture<'a, Result<()>> {
        let connector = connector.to_owned();
        let state = Arc::clone(&self.state);
        Box::pin(async move {
            let mut state = state.lock_owned().await;
            let written = tokio::task::spawn_blocking(move || {
                let mut entries = state.entries.clone();
                for (partition, offset) in offsets {
                    let key = OffsetKey::new(&connector, Some(partition));
                    match offset {
                        Some(offset) => entries.insert(key, offset),
                        None => entries.remove(&key),
                    };
                }
                state.write(&entries).map_err(|e| OffsetFileError {
                    path: state.path.clone(),
                    why: format!("it cannot be written: {e}"),
                })?;
                // Only what is on disk counts as stored.
                state.entries = entries;
                state.replaces_java = false;
                Ok::<_, OffsetFileError>(())
            });
            written.await.map_err(TaskError::retriable)?.map_err(TaskError::retriable)
        })
    }
}

impl State {
    fn write(&self, entries: &OffsetEntries) -> io::Result<()> {
        if self.replaces_java {
            keep_java(&self.path)?;
        }
        let beside = sibling(&self.path, ".new");
        let mut file = File::create(&beside)?;
        file.write_all(&render(entries))?;
        file.sync_all()?;
        drop(file);
        fs::rename(&beside, &self.path)?;
        File::open(folder_of(&self.path))?.sync_all()
    }
}

/// Gives Java's file a second name, before its first name goes to our file.
fn keep_java(path: &Path) -> io::Result<()> {
    let original = fs::read(path)?;
    for n in 0.. {
        let kept = sibling(path, &if n == 0 { ".java".to_owned() } else { format!(".java.{n}") });
        match fs::hard_link(path, &kept) {
            // Kept already by a start that was killed before the rename.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && fs::read(&kept)? == original => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => return fs::copy(path, &kept).map(drop),
            Ok(()) => return Ok(()),
        }
    }
    Ok(())
}

fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn render(entries: &OffsetEntries) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = entries
        .iter()
        .map(|(key, offset)| {
            let mut line = b"{\"key\":".to_vec();
            line.extend(encode_offset_key(&key.connector, key.partition.as_ref()));
            line.extend(b",\"value\":");
            line.extend(encode_offset(offset));
            line.extend(b"}\n");
            line
        })
        .collect();
    // The same offsets always give the same file.
    lines.sort_unstable();
    let head = format!("{{\"connect.offsets\":{VERSION},\"entries\":{}}}\n", entries.len());
    std::iter::once(head.into_bytes()).chain(lines).flatten().collect()
}

fn parse_ours(bytes: &[u8]) -> Result<OffsetEntries, String> {
    if bytes.is_empty() {
        return Ok(HashMap::new());
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|e| format!("it is neither an offset file of this worker nor of Java's: {e}"))?;
    let mut lines = text.lines();
    let head: Head = serde_json::from_str(lines.next().unwrap_or_default())
        .map_err(|e| format!("line 1 is not the head of an offset file of this worker: {e}"))?;
    if head.version != VERSION {
        return Err(format!("it has version {}; this worker reads version {VERSION}", head.version));
    }
    let mut entries = HashMap::with_capacity(head.entries.min(bytes.len()));
    for (n, line) in (2..).zip(lines.by_ref()) {
        let (key, offset) = parse_line(line).map_err(|e| format!("line {n} is not an offset: {e}"))?;
        entries.insert(key, offset);
    }
    if entries.len() != head.entries {
        return Err(format!(
            "line 1 announces {} offsets, but it has {}: it was cut or edited",
            head.entries,
            entries.len()
        ));
    }
    Ok(entries)
}

fn parse_line(line: &str) -> Result<(OffsetKey, OffsetMap), String> {
    let line: Line<'_> = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let (connector, partition) = decode_offset_key(line.key.get().as_bytes()).map_err(|e| e.to_string())?;
    let offset = decode_offset(line.value.get().as_bytes()).map_err(|e| e.to_string())?;
    Ok((OffsetKey { connector, partition }, offset.ok_or("the offset is null")?))
}

fn parse_java(bytes: &[u8]) -> Result<OffsetEntries, String> {
    let mut entries = HashMap::new();
    for (key, value) in read_java_map(bytes).map_err(|e| e.to_string())? {
        let Some(key) = key else { return Err("Java's file has an offset without a key".to_owned()) };
        let fail = |e: &dyn fmt::Display| format!("Java's file has the entry `{}`: {e}", String::from_utf8_lossy(&key));
        let (connector, partition) = decode_offset_key(&key).map_err(|e| fail(&e))?;
        // A null value is an offset that was deleted.
        let offset = value.map(|v| decode_offset(&v)).transpose().map_err(|e| fail(&e))?.flatten();
        if let Some(offset) = offset {
            entries.insert(OffsetKey { connector, partition }, offset);
        }
    }
    Ok(entries)
}

/// What is wrong with an offset file.
#[derive(Debug)]
pub(crate) struct OffsetFileError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for OffsetFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset file `{}` (`offset.storage.file.filename`): {}", self.path.display(), self.why)
    }
}

impl std::error::Error for OffsetFileError {}

#[cfg(test)]
mod tests {
    use super::{super::java_map::tests::java_map, *};
    use connect_sdk::source::{FieldMap, FieldValue};

    fn partition(file: &str) -> PartitionMap {
        FieldMap::new().with("filename", FieldValue::Text(file.into()))
    }

    fn at(position: i64) -> OffsetMap {
        FieldMap::new().with("position", FieldValue::Int(position))
    }

    #[tokio::test]
    async fn offsets_survive_and_the_file_has_a_version_and_a_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("connect.offsets");
        let store = FileOffsetStore::open(&path).unwrap();
        store.store("c", vec![(partition("a"), Some(at(1))), (partition("b"), Some(at(2)))]).await.unwrap();
        store.store("c", vec![(partition("a"), Some(at(7)))]).await.unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "{\"connect.offsets\":1,\"entries\":2}\n\
             {\"key\":[\"c\",{\"filename\":\"a\"}],\"value\":{\"position\":7}}\n\
             {\"key\":[\"c\",{\"filename\":\"b\"}],\"value\":{\"position\":2}}\n"
        );
        let again = FileOffsetStore::open(&path).unwrap();
        let loaded = again.load("c", vec![partition("b"), partition("x"), partition("a")]).await.unwrap();
        assert_eq!(loaded, [Stored::Offset(at(2)), Stored::Unknown, Stored::Offset(at(7))]);
        assert_eq!(again.load("other", vec![partition("a")]).await.unwrap(), [Stored::Unknown]);
        again.store("c", vec![(partition("a"), None)]).await.unwrap();
        assert_eq!(
            FileOffsetStore::open(&path).unwrap().load("c", vec![partition("a")]).await.unwrap(),
            [Stored::Unknown]
        );
    }

    #[tokio::test]
    async fn javas_file_is_read_and_kept_when_it_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("connect.offsets");
        let java = java_map(&[(br#"["local-file-source",{"filename":"test.txt"}]"#, br#"{"position":42}"#)]);
        fs::write(&path, &java).unwrap();
        let store = FileOffsetStore::open(&path).unwrap();
        assert_eq!(
            store.load("local-file-source", vec![partition("test.txt")]).await.unwrap(),
            [Stored::Offset(at(42))]
        );
        assert_eq!(fs::read(&path).unwrap(), java, "reading changes nothing");
        store.store("local-file-source", vec![(partition("test.txt"), Some(at(50)))]).await.unwrap();
        assert_eq!(fs::read(sibling(&path, ".java")).unwrap(), java);
        let again = FileOffsetStore::open(&path).unwrap();
        assert_eq!(
            again.load("local-file-source", vec![partition("test.txt")]).await.unwrap(),
            [Stored::Offset(at(50))]
        );
    }

    #[test]
    fn what_cannot_be_read_is_an_error_that_names_the_file_and_the_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("connect.offsets");
        for (content, expected) in [
            ("hello", "line 1"),
            ("{\"connect.offsets\":2,\"entries\":0}\n", "version 2"),
            ("{\"connect.offsets\":1,\"entries\":2}\n{\"key\":[\"c\",{}],\"value\":{}}\n", "announces 2"),
            ("{\"connect.offsets\":1,\"entries\":1}\n{\"key\":[\"c\",{}],\"va", "line 2"),
            ("\u{0}\u{1}", "line 1"),
        ] {
            fs::write(&path, content).unwrap();
            let error = FileOffsetStore::open(&path).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("connect.offsets"), "{error}");
        }
        let error = FileOffsetStore::open(&dir.path().join("no/such/file")).unwrap_err().to_string();
        assert!(error.contains("does not exist"), "{error}");
    }

    #[tokio::test]
    async fn a_failed_write_keeps_the_old_offsets() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("connect.offsets");
        let store = FileOffsetStore::open(&path).unwrap();
        store.store("c", vec![(partition("a"), Some(at(1)))]).await.unwrap();
        // A folder in the place of the new file makes every write fail, also for root.
        fs::create_dir(sibling(&path, ".new")).unwrap();
        let error = store.store("c", vec![(partition("a"), Some(at(2)))]).await.unwrap_err();
        assert!(error.is_retriable());
        assert_eq!(store.load("c", vec![partition("a")]).await.unwrap(), [Stored::Offset(at(1))]);
        fs::remove_dir(sibling(&path, ".new")).unwrap();
        store.store("c", vec![(partition("a"), Some(at(3)))]).await.unwrap();
        assert_eq!(
            FileOffsetStore::open(&path).unwrap().load("c", vec![partition("a")]).await.unwrap(),
            [Stored::Offset(at(3))]
        );
    }
}
