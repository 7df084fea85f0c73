//! The sink under test: what is sent for it, what it has written, and what its group has committed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::check;
use super::feeder::{Feed, Feeder, fed};
use super::plan::{Change, FILE_STREAM_SINK, FOLDER_SINK, SESSION_LONG_MS, SESSION_MS, Shape, Subject};
use crate::cluster::Cluster;
use crate::connectors::{numbers, record_files};

/// The file of a `FileStreamSink` in the sinks' folder.
const ONE_FILE: &str = "all.txt";
/// The partitions of a second topic are series from here on.
const SECOND: u64 = 1_000;

/// What a sink has written: the values by series and offset.
pub type Written = BTreeMap<(i32, i64), Vec<String>>;

/// A sink and its topics. Partition `p` of the first topic is series `p`.
#[derive(Debug)]
pub struct Sink {
    dir: PathBuf,
    group: String,
    topic: String,
    second: String,
    subject: Subject,
    shape: Shape,
    feeders: Vec<Feeder>,
    n_records: u64,
}

impl Sink {
    /// Makes the folder, and begins to send.
    pub fn new(cluster: &Cluster, name: &str, subject: Subject, shape: &Shape, dir: PathBuf) -> Self {
        fs::create_dir(&dir).expect("a folder can be made");
        let mut sink = Self {
            dir,
            group: format!("connect-{name}"),
            topic: name.to_owned(),
            second: format!("{name}-second"),
            subject,
            shape: shape.clone(),
            feeders: Vec::new(),
            n_records: 0,
        };
        sink.feed(cluster, Feed { topic: name.to_owned(), partitions: 0..shape.partitions, first_series: 0 });
        sink
    }

    fn feed(&mut self, cluster: &Cluster, feed: Feed) {
        self.n_records += (feed.partitions.end - feed.partitions.start) * self.shape.records;
        self.feeders.push(Feeder::start(cluster, feed, &self.shape));
    }

    /// The connector's properties, as they are now.
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        let shape = &self.shape;
        let mut all = Vec::new();
        let mut set = |key, value: &dyn ToString| all.push((key, value.to_string()));
        match (shape.by_regex, self.feeders.len(), shape.change) {
            (true, ..) => set("topics.regex", &format!("{}(-second)?", self.topic)),
            (false, 2, Change::Topic(_)) => set("topics", &format!("{},{}", self.topic, self.second)),
            _ => set("topics", &self.topic),
        }
        match shape.sink {
            FILE_STREAM_SINK => {
                set("connector.class", &shape.sink);
                set("file", &self.dir.join(ONE_FILE).display());
            }
            FOLDER_SINK => {
                set("connector.class", &FILE_STREAM_SINK);
                set("directory", &self.dir.display());
                set("file.max.records", &(shape.poll_records * 3));
                set("file.max.age.ms", &100);
            }
            class => {
                set("connector.class", &class);
                set("dir", &self.dir.display());
                if class == "files" {
                    set("flush.records", &(shape.poll_records * 3));
                    set("flush.interval.ms", &200);
                } else {
                    set("delay.ms", &shape.pause_ms);
                }
            }
        }
        // New topics are looked for this often, beside the look at the start.
        set("consumer.override.metadata.max.age.ms", &500);
        if self.subject == Subject::NewGroup {
            set("consumer.override.group.protocol", &"consumer");
        } else {
            // Where topics change, the places of the dead are to be there still when they come back.
            let session = if shape.change == Change::None { SESSION_MS } else { SESSION_LONG_MS };
            set("consumer.override.session.timeout.ms", &session);
            set("consumer.override.heartbeat.interval.ms", &300);
        }
        all
    }

    /// More partitions, or a second topic.
    pub fn change(&mut self, cluster: &Cluster) {
        let old = self.shape.partitions;
        let count = |n: u64| i32::try_from(n).expect("few partitions");
        match self.shape.change {
            Change::None => {}
            Change::Grow(more) => {
                cluster.grow_topic(&self.topic, count(old + more));
                self.feed(cluster, Feed { topic: self.topic.clone(), partitions: old..old + more, first_series: 0 });
            }
            Change::Topic(partitions) => {
                cluster.create_topic(&self.second, count(partitions), &[]);
                self.feed(
                    cluster,
                    Feed { topic: self.second.clone(), partitions: 0..partitions, first_series: SECOND },
                );
            }
        }
    }

    /// Removes the second topic, if there is one.
    pub fn clean_up(&self, cluster: &Cluster) {
        if self.has_second() {
            cluster.delete_topic(&self.second);
        }
    }

    fn has_second(&self) -> bool {
        matches!(self.shape.change, Change::Topic(_)) && self.feeders.len() > 1
    }

    /// Where the disk can be made full.
    pub fn full(&self) -> PathBuf {
        self.dir.join(record_files::FULL)
    }

    /// How many records are written, each counted once.
    pub fn n_written(&self) -> usize {
        self.written().len()
    }

    /// True if every record is written.
    pub fn is_complete(&self) -> bool {
        self.n_written() >= self.n_records()
    }

    fn n_records(&self) -> usize {
        usize::try_from(self.n_records).expect("few records")
    }

    /// What is committed is written, and what is written is what was sent.
    ///
    /// # Errors
    /// What is lost; of a folder also what is there twice.
    pub fn check_at_rest(&self, cluster: &Cluster) -> Result<(), String> {
        // Read first: what is written meanwhile is no excuse.
        let committed = self.committed(cluster);
        let written = self.written();
        check::committed_is_written(&written, &committed, |series, i| fed(&self.shape, series, i))?;
        if self.shape.sink == FOLDER_SINK { check::written_once(&written) } else { Ok(()) }
    }

    /// Everything is there, and `stopped` in good order has committed all that it has written; answers how many records
    /// came more than once.
    ///
    /// # Errors
    /// The verdict.
    pub fn check_end(&mut self, cluster: &Cluster, stopped: Option<u32>) -> Result<usize, String> {
        self.feeders.iter_mut().for_each(Feeder::finish);
        let written = self.written();
        let n = written.len();
        if n != self.n_records() {
            return Err(format!("{n} records are written of {}", self.n_records));
        }
        let committed = self.committed(cluster);
        let ends = match (self.shape.sink, stopped) {
            // Each file ends with what was committed for it or will be; the files are what counts.
            (FOLDER_SINK | FILE_STREAM_SINK, _) | (_, None) => BTreeMap::new(),
            (_, Some(pid)) => self.of_both(|topic| record_files::ends(&self.dir, topic, pid)),
        };
        for (series, end) in ends {
            if committed.get(&series).is_none_or(|offset| *offset < end) {
                return Err(format!(
                    "after a stop in good order {committed:?} is committed, but {end} of series {series} is written"
                ));
            }
        }
        Ok(written.values().map(|values| values.len() - 1).sum())
    }

    fn committed(&self, cluster: &Cluster) -> BTreeMap<i32, i64> {
        self.of_both(|topic| cluster.committed(&self.group, topic))
    }

    /// What is known of the partitions of each topic, by series.
    fn of_both<T>(&self, of: impl Fn(&str) -> BTreeMap<i32, T>) -> BTreeMap<i32, T> {
        let mut all = of(&self.topic);
        if self.has_second() {
            all.extend(of(&self.second).into_iter().map(|(partition, value)| (second(partition), value)));
        }
        all
    }

    fn written(&self) -> Written {
        match self.shape.sink {
            FILE_STREAM_SINK => in_one_file(&self.dir),
            FOLDER_SINK => self.in_folder(),
            _ => {
                let mut all = record_files::read(&self.dir, &self.topic);
                if self.has_second() {
                    let more = record_files::read(&self.dir, &self.second);
                    all.extend(more.into_iter().map(|((partition, i), values)| ((second(partition), i), values)));
                }
                all
            }
        }
    }

    /// The lines of files whose names tell their offsets: `topic+partition+start+end.txt`.
    fn in_folder(&self) -> Written {
        let mut found = Written::new();
        let entries = fs::read_dir(&self.dir).expect("the folder can be read");
        for path in entries.map(|entry| entry.expect("an entry can be read").path()).filter(|path| path.is_file()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let parts: Vec<&str> = name.strip_suffix(".txt").unwrap_or_default().split('+').collect();
            let number = |at: usize| parts.get(at).and_then(|part| part.parse::<i64>().ok());
            let (Some(partition), Some(start), Some(end)) = (number(1), number(2), number(3)) else {
                panic!("`{name}` does not name its records");
            };
            let partition = i32::try_from(partition).unwrap_or(-1);
            let series = if parts[0] == self.topic { partition } else { second(partition) };
            let text = fs::read_to_string(&path).expect("a file can be read");
            let lines: Vec<&str> = text.split_terminator('\n').collect();
            let n = i64::try_from(lines.len()).unwrap_or(-1);
            assert!(n == end - start && text.ends_with('\n'), "`{name}` is not whole: it has {n} lines");
            for (i, line) in (start..).zip(lines) {
                found.entry((series, i)).or_default().push(line.to_owned());
            }
        }
        found
    }
}

fn second(partition: i32) -> i32 {
    partition.saturating_add(i32::try_from(SECOND).unwrap_or(i32::MAX))
}

/// Each line says which record it is.
fn in_one_file(dir: &Path) -> Written {
    let mut found = Written::new();
    let text = fs::read_to_string(dir.join(ONE_FILE)).unwrap_or_default();
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        // A line that says nothing is found under a place where it cannot be right.
        let (series, i) = numbers::parse(line).unwrap_or((-1, -1));
        found.entry((i32::try_from(series).unwrap_or(-1), i)).or_default().push(line.to_owned());
    }
    found
}
