//! The files of the test sinks: what is in them is durable, and each line says which record it was.
//!
//! Each life of a task appends to files of its own, `<topic>-<partition>.<process>-<life>`, so that a line that a kill has
//! torn is the last of its file and recognized by its missing end.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use connect_sdk::sink::SinkRecord;

/// While the folder has a file of this name, lines are written to it instead: as a link to `/dev/full` it is a full disk.
pub const FULL: &str = "full";

static LIVES: AtomicU64 = AtomicU64::new(0);

/// What one life of a task writes.
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    life: String,
    files: BTreeMap<(String, i32), File>,
}

impl Writer {
    /// A new life; files are made when the first record comes.
    pub fn new(dir: &Path) -> Self {
        let life = format!("{}-{}", std::process::id(), LIVES.fetch_add(1, Ordering::Relaxed));
        Self { dir: dir.to_path_buf(), life, files: BTreeMap::new() }
    }

    /// Appends a line `offset value` for each record, and returns when they are on disk.
    ///
    /// # Errors
    /// As the file system says; some of the records may be written.
    pub fn write(&mut self, records: &[SinkRecord]) -> io::Result<()> {
        let mut lines: BTreeMap<(String, i32), Vec<u8>> = BTreeMap::new();
        for record in records {
            let lines = lines.entry((record.topic().to_owned(), record.partition())).or_default();
            writeln!(lines, "{} {}", record.offset(), record.value_text())?;
        }
        let full = self.dir.join(FULL);
        if full.exists() {
            return File::options()
                .append(true)
                .open(full)?
                .write_all(&lines.into_values().flatten().collect::<Vec<u8>>());
        }
        for ((topic, partition), lines) in lines {
            let path = self.dir.join(format!("{topic}-{partition}.{}", self.life));
            let file = match self.files.entry((topic, partition)) {
                std::collections::btree_map::Entry::Occupied(file) => file.into_mut(),
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(File::options().append(true).create(true).open(path)?)
                }
            };
            file.write_all(&lines)?;
            file.sync_data()?;
        }
        Ok(())
    }
}

/// Every whole line of every life: the values by partition and offset.
///
/// # Panics
/// A file cannot be read, or a whole line is not as [`Writer`] writes it.
pub fn read(dir: &Path, topic: &str) -> BTreeMap<(i32, i64), Vec<String>> {
    let mut found: BTreeMap<(i32, i64), Vec<String>> = BTreeMap::new();
    each_line(dir, topic, |_, partition, offset, value| {
        found.entry((partition, offset)).or_default().push(value.to_owned());
    });
    found
}

/// The offset after the last record that a process has written, by partition.
///
/// # Panics
/// As [`read`].
pub fn ends(dir: &Path, topic: &str, process: u32) -> BTreeMap<i32, i64> {
    let mut found = BTreeMap::new();
    let process = format!("{process}-");
    each_line(dir, topic, |life, partition, offset, _| {
        if life.starts_with(&process) {
            let end = found.entry(partition).or_insert(0);
            *end = (offset + 1).max(*end);
        }
    });
    found
}

fn each_line(dir: &Path, topic: &str, mut each: impl FnMut(&str, i32, i64, &str)) {
    for entry in fs::read_dir(dir).unwrap_or_else(|error| panic!("`{}` cannot be read: {error}", dir.display())) {
        let path = entry.expect("an entry of a folder can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((stem, life)) = name.split_once('.') else { continue };
        let Some((_, partition)) = stem.rsplit_once('-').filter(|(of, _)| *of == topic) else { continue };
        let partition: i32 = partition.parse().unwrap_or_else(|_| panic!("`{name}` names no partition"));
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("`{name}` cannot be read: {error}"));
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else { continue };
            let line = String::from_utf8_lossy(line);
            let (offset, value) = line.split_once(' ').unwrap_or_else(|| panic!("`{name}` has the line `{line}`"));
            let offset = offset.parse().unwrap_or_else(|_| panic!("`{name}` has the line `{line}`"));
            each(life, partition, offset, value);
        }
    }
}
