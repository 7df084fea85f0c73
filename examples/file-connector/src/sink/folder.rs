//! A folder of files named after the offsets that they hold. The names are the target's own record of how far it is, so
//! every record is in exactly one file: a partition goes on behind its newest file, whatever its group has committed.
//!
//! A file is written in the staging folder of its partition's present owner and renamed when it is whole. Whoever takes a
//! partition over removes the staging folders of earlier owners first, and only then looks at which files there are: an
//! earlier owner that does not know yet that it is none can finish nothing any more.

use connect_sdk::prelude::*;
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Write},
    num::NonZeroU64,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Holds a folder for each partition, with one for each owner.
const STAGING: &str = ".staging";
const EXTENSION: &str = ".txt";
/// An earlier owner may write while its folder is removed, and is removed again.
const REMOVALS_MAX: usize = 100;
/// Before a task takes a partition back that another one has taken over: by then the group has told it to whom the
/// partition belongs.
const TAKEN_OVER_PAUSE: Duration = Duration::from_secs(5);

/// One life of a task that writes into a folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    records_max: u64,
    age_max: Duration,
    /// None after a call that ended in the middle of a change: what it knew of the files is gone.
    partitions: Option<Partitions>,
}

type Partitions = BTreeMap<TopicPartition, Owned>;

/// A partition whose files this task writes.
#[derive(Debug)]
struct Owned {
    staging: PathBuf,
    part: Option<Part>,
}

/// The file that is being written.
#[derive(Debug)]
struct Part {
    file: File,
    path: PathBuf,
    first: Position,
    /// Behind its last record.
    end: i64,
    records: u64,
    since: Instant,
}

/// Lines of one partition, on their way to its file.
#[derive(Debug)]
struct Lines {
    first: Position,
    end: i64,
    records: u64,
    text: Vec<u8>,
}

impl Folder {
    /// Opens a folder, which is made if it is not there.
    pub(super) async fn open(name: &str, records_max: NonZeroU64, age_max: Duration) -> Result<Self> {
        let path = PathBuf::from(name);
        let made = path.join(STAGING);
        on_thread(move || fs::create_dir_all(&made)).await?.map_err(|e| problem(&path, "be made", &e)).fatal()?;
        Ok(Self { path, records_max: records_max.get(), age_max, partitions: Some(Partitions::new()) })
    }

    /// Takes partitions over: they go on behind their newest files; those without one where the group says.
    pub(super) async fn assigned(&mut self, partitions: &[TopicPartition]) -> Result<StartOffsets> {
        let (path, names) = (self.path.clone(), partitions.to_vec());
        let taken = on_thread(move || take_over(&path, names)).await?;
        let (taken, start) = taken.map_err(|e| problem(&self.path, "be taken over", &e)).retriable()?;
        self.partitions.as_mut().ok_or_else(not_known)?.extend(taken);
        Ok(start)
    }

    pub(super) async fn put(&mut self, records: Vec<SinkRecord>) -> Result<()> {
        let mut lines: Vec<(TopicPartition, Lines)> = Vec::new();
        for record in records {
            // Records come in runs of one partition.
            let last =
                lines.last().is_some_and(|(p, _)| p.partition == record.partition() && *p.topic == *record.topic());
            if !last {
                let partition = TopicPartition::new(record.topic(), record.partition());
                let first = record.position();
                lines.push((partition, Lines { first, end: 0, records: 0, text: Vec::new() }));
            }
            if let Some((_, lines)) = lines.last_mut() {
                lines.end = record.offset() + 1;
                lines.records += 1;
                lines.text.extend_from_slice(record.value_text().as_bytes());
                lines.text.push(b'\n');
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let (path, records_max) = (self.path.clone(), self.records_max);
        self.change(move |partitions| {
            for (partition, lines) in lines {
                let owned = partitions.get_mut(&partition);
                let owned = owned.ok_or_else(|| io::Error::other(format!("`{partition}` is not taken over")))?;
                owned.append(lines)?;
                if owned.part.as_ref().is_some_and(|part| part.records >= records_max) {
                    owned.finish(&path, &partition)?;
                }
            }
            Ok(())
        })
        .await
    }

    pub(super) async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        let path = self.path.clone();
        match at {
            PreCommit::Running(offsets) => {
                let age_max = self.age_max;
                self.change(move |partitions| {
                    for (partition, owned) in partitions {
                        if owned.part.as_ref().is_some_and(|part| part.since.elapsed() >= age_max) {
                            owned.finish(&path, partition)?;
                        }
                    }
                    Ok(())
                })
                .await?;
                let parts = self.partitions.iter().flat_map(Partitions::values).filter_map(|owned| owned.part.as_ref());
                Ok(offsets.except(parts.map(|part| &part.first)))
            }
            PreCommit::Closing(offsets) => {
                let closing: Vec<TopicPartition> = offsets.partitions().cloned().collect();
                self.change(move |partitions| {
                    for partition in closing {
                        if let Some(owned) = partitions.get_mut(&partition) {
                            owned.finish(&path, &partition)?;
                        }
                    }
                    Ok(())
                })
                .await?;
                Ok(offsets.all_written())
            }
        }
    }

    /// Forgets partitions; what is not finished of them comes again.
    pub(super) async fn closed(&mut self, partitions: &[TopicPartition]) -> Result<()> {
        // Without it, whatever is left is removed by the next owner.
        let Some(owned) = &mut self.partitions else { return Ok(()) };
        let gone: Vec<Owned> = partitions.iter().filter_map(|partition| owned.remove(partition)).collect();
        on_thread(move || {
            for owned in gone {
                drop(owned.part);
                // Whatever is left here, the next owner removes.
                let _removed = fs::remove_dir_all(owned.staging);
            }
        })
        .await
    }

    /// Runs on a thread that may block.
    async fn change(&mut self, run: impl FnOnce(&mut Partitions) -> io::Result<()> + Send + 'static) -> Result<()> {
        let mut partitions = self.partitions.take().ok_or_else(not_known)?;
        let (partitions, result) = on_thread(move || {
            let result = run(&mut partitions);
            (partitions, result)
        })
        .await?;
        self.partitions = Some(partitions);
        result.map_err(|e| {
            let error = problem(&self.path, "be written to", &e);
            // The next life takes the partitions over again, if they are still this task's.
            if e.kind() == io::ErrorKind::NotFound {
                TaskError::retriable_after(
                    format!("{error}; another task has taken a partition over"),
                    TAKEN_OVER_PAUSE,
                )
            } else {
                TaskError::retriable(error)
            }
        })
    }
}

impl Owned {
    fn append(&mut self, lines: Lines) -> io::Result<()> {
        let part = match &mut self.part {
            Some(part) => part,
            none => {
                let path = self.staging.join(format!("{:020}", lines.first.offset()));
                let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
                none.insert(Part { file, path, first: lines.first, end: 0, records: 0, since: Instant::now() })
            }
        };
        part.file.write_all(&lines.text)?;
        part.end = lines.end;
        part.records += lines.records;
        Ok(())
    }

    /// Makes the file that is being written appear, whole and on disk.
    fn finish(&mut self, folder: &Path, partition: &TopicPartition) -> io::Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        part.file.sync_data()?;
        drop(part.file);
        fs::rename(&part.path, folder.join(file_name(partition, part.first.offset(), part.end)))?;
        // The name is on disk only when the folder is.
        File::open(folder)?.sync_all()
    }
}

/// The name of a file with the records from `start` up to `end`, which is the offset behind the last one.
fn file_name(partition: &TopicPartition, start: i64, end: i64) -> String {
    format!("{}+{}+{start:020}+{end:020}{EXTENSION}", &*partition.topic, partition.partition)
}

/// Reads a name that [`file_name`] wrote: topic, partition and the offset behind the last record.
fn parse(name: &str) -> Option<(&str, i32, i64)> {
    let mut parts = name.strip_suffix(EXTENSION)?.rsplitn(4, '+');
    let (end, _start, partition) = (parts.next()?, parts.next()?, parts.next()?);
    Some((parts.next()?, partition.parse().ok()?, end.parse().ok()?))
}

/// Drives earlier owners of partitions out, and then looks up where the partitions go on.
fn take_over(folder: &Path, partitions: Vec<TopicPartition>) -> io::Result<(Partitions, StartOffsets)> {
    let mut taken = Partitions::new();
    for partition in partitions {
        let all = folder.join(STAGING).join(format!("{}+{}", &*partition.topic, partition.partition));
        // Random: an owner on another machine can have any number that a process here has.
        let owner = format!("{:016x}", RandomState::new().build_hasher().finish());
        let staging = all.join(owner);
        fs::create_dir_all(&staging)?;
        for entry in fs::read_dir(&all)? {
            let path = entry?.path();
            if path != staging {
                remove(&path)?;
            }
        }
        taken.insert(partition, Owned { staging, part: None });
    }
    let mut ends: BTreeMap<TopicPartition, i64> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some((topic, number, end)) = name.to_str().and_then(parse) else { continue };
        let partition = TopicPartition::new(topic, number);
        if taken.contains_key(&partition) {
            let newest = ends.entry(partition).or_insert(end);
            *newest = end.max(*newest);
        }
    }
    Ok((taken, ends.iter().fold(StartOffsets::none(), |start, (partition, end)| start.at(partition, *end))))
}

/// Removes a folder, also one that is being written into.
fn remove(path: &Path) -> io::Result<()> {
    let mut last = None;
    for _ in 0..REMOVALS_MAX {
        match fs::remove_dir_all(path) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => last = Some(e),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::Other.into()))
}

async fn on_thread<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(run).await.retriable()
}

/// Another life takes the partitions over again.
fn not_known() -> TaskError {
    TaskError::retriable("an earlier call was cut short, and the partitions are not taken over any more")
}

fn problem(folder: &Path, what: &str, error: &io::Error) -> String {
    format!("folder `{}` cannot {what}: {error}", folder.display())
}

#[cfg(test)]
mod tests;
