//! What is under test in a cycle, and how far it has come: a source that is watched through its topic, or a sink that is
//! watched through its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::arena::Arena;
use super::check::{self, Life, Stored};
use super::feeder::{Feeder, fed};
use super::observer::Observer;
use super::plan::{Case, FILE_STREAM_SINK, Kind, Plan, SESSION_MS, Shape, Subject, ZOMBIE_TRANSACTION_MS};
use super::stored;
use crate::cluster::Isolation;
use crate::connectors::{numbers, record_files};
use crate::standalone::Standalone;
use crate::unique;

const LOOK: Duration = Duration::from_millis(10);
const END_TIMEOUT: Duration = Duration::from_secs(30);
/// The markers of a transaction reach its partitions one after the other.
const MARKERS_TIMEOUT: Duration = Duration::from_secs(10);
/// Which file of the worker's folder makes writes of the offset file fail: the file is written beside itself first.
const OFFSETS_BESIDE: &str = "offsets.new";
/// The file of a `FileStreamSink` in the sinks' folder.
const ONE_FILE: &str = "all.txt";
/// A device on which every write fails for want of space.
const FULL_DEVICE: &str = "/dev/full";

/// The connector of a cycle.
#[derive(Debug)]
pub struct Connector {
    name: String,
    topic: String,
    /// Of this cycle alone: an open transaction of another one would hold readers up.
    offsets_topic: String,
    case: Case,
    shape: Shape,
    watch: Watch,
}

#[derive(Debug)]
enum Watch {
    Source { observer: Observer, lives: Vec<Life>, offset_file: PathBuf },
    Sink { dir: PathBuf, feeder: Feeder },
}

impl Connector {
    /// Makes the topic and two workers' files.
    pub fn new(arena: &Arena, plan: &Plan) -> (Self, [Standalone; 2]) {
        let (case, shape) = (plan.case, plan.shape.clone());
        let name = unique(&case.to_string());
        let n = i32::try_from(shape.partitions).expect("few partitions");
        arena.cluster.create_topic(&name, n, &[]);
        let offsets_topic = format!("{name}-offsets");
        let bootstrap = if plan.uses_proxy() { arena.proxy.address() } else { arena.cluster.bootstrap().to_owned() };
        let worker = || {
            let worker = Standalone::new(&bootstrap).test_worker();
            if case.subject == Subject::Sink || !shape.offsets_in_topic {
                return worker;
            }
            let worker = worker.unset("offset.storage.file.filename").set("offset.storage.topic", &offsets_topic);
            worker.set("offset.storage.partitions", "1").set("offset.storage.replication.factor", "1")
        };
        let workers = [worker(), worker()];
        let folder = workers[0].dir().to_path_buf();
        let watch = if case.subject == Subject::Sink {
            let dir = folder.join("out");
            fs::create_dir(&dir).expect("a folder can be made");
            Watch::Sink { dir, feeder: Feeder::start(&arena.cluster, &name, &shape) }
        } else {
            let observer = Observer::new(&arena.cluster, &name, n);
            Watch::Source { observer, lives: Vec::new(), offset_file: folder.join("offsets") }
        };
        let connector = Self { topic: name.clone(), name, offsets_topic: offsets_topic.clone(), case, shape, watch };
        let [first, second] = workers;
        let workers = [
            first.connector(&connector.name, &connector.properties(connector.shape.tasks)),
            second.connector(&connector.name, &connector.properties(connector.shape.tasks_of_other)),
        ];
        (connector, workers)
    }

    fn properties(&self, tasks: u64) -> Vec<(&'static str, String)> {
        let shape = &self.shape;
        let mut all = vec![("tasks.max", tasks.to_string())];
        let mut set = |key, value: &dyn ToString| all.push((key, value.to_string()));
        if let Watch::Sink { dir, .. } = &self.watch {
            set("connector.class", &shape.sink);
            set("topics", &self.topic);
            if shape.sink != FILE_STREAM_SINK {
                set("dir", &dir.display());
            }
            match shape.sink {
                FILE_STREAM_SINK => set("file", &dir.join(ONE_FILE).display()),
                "files" => {
                    set("flush.records", &(shape.poll_records * 3));
                    set("flush.interval.ms", &200);
                }
                _ => set("delay.ms", &shape.pause_ms),
            }
            set("consumer.override.session.timeout.ms", &SESSION_MS);
            set("consumer.override.heartbeat.interval.ms", &300);
            return all;
        }
        set("connector.class", &"numbers");
        set("topic", &self.topic);
        set("partitions", &shape.partitions);
        set("limit", &shape.records);
        set("record.bytes", &shape.record_bytes);
        set("poll.records", &shape.poll_records);
        set("pause.ms", &shape.pause_ms);
        set("group.records", &shape.group_records);
        set("fail.every.polls", &shape.fail_every_polls);
        if self.case.subject == Subject::ExactlyOnce {
            set("exactly.once.support", &"required");
            set("exactly.once.source.support", &"enabled");
            match shape.boundary_ms {
                None => set("transaction.boundary", &"poll"),
                Some(ms) => {
                    set("transaction.boundary", &"interval");
                    set("transaction.boundary.interval.ms", &ms);
                }
            }
            if self.case.kind == Kind::Zombie {
                set("producer.override.transaction.timeout.ms", &ZOMBIE_TRANSACTION_MS);
            }
        }
        all
    }

    /// The name of connector and topic.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Removes what the cycle has left in Kafka.
    pub fn clean_up(&self, arena: &Arena) {
        arena.cluster.delete_topic(&self.topic);
        if matches!(self.watch, Watch::Source { .. }) && self.shape.offsets_in_topic {
            arena.cluster.delete_topic(&self.offsets_topic);
        }
    }

    /// Looks a moment, and says how many records there are to see.
    ///
    /// # Errors
    /// Something is there that nobody sent.
    pub fn progress(&mut self) -> Result<usize, String> {
        match &mut self.watch {
            Watch::Source { observer, .. } => {
                observer.read_for(LOOK)?;
                Ok(observer.seen().len())
            }
            Watch::Sink { dir, .. } => {
                std::thread::park_timeout(LOOK);
                Ok(written(dir, &self.topic, &self.shape).len())
            }
        }
    }

    /// True if every record is there.
    pub fn is_complete(&self) -> bool {
        match &self.watch {
            Watch::Source { observer, .. } => {
                let mut all: Vec<_> = observer.seen().iter().map(|record| (record.series, record.number)).collect();
                all.sort_unstable();
                all.dedup();
                all.len() >= self.n_records()
            }
            Watch::Sink { dir, .. } => written(dir, &self.topic, &self.shape).len() >= self.n_records(),
        }
    }

    fn n_records(&self) -> usize {
        usize::try_from(self.shape.partitions * self.shape.records).expect("few records")
    }

    /// A worker was started when this was stored, if that is known.
    pub fn started(&mut self, process: u32, stored: Option<Stored>) {
        let may_be_later = self.shape.offsets_in_topic;
        if let Watch::Source { lives, .. } = &mut self.watch {
            lives.push(Life { process, stored, may_be_later });
        }
    }

    /// What is stored now; none if it cannot be known.
    ///
    /// # Errors
    /// The offset file is torn.
    pub fn stored(&self, arena: &Arena) -> Result<Option<Stored>, String> {
        match &self.watch {
            Watch::Source { .. } if self.shape.offsets_in_topic => {
                Ok(arena.broker_runs.then(|| stored::in_topic(&arena.cluster, &self.offsets_topic, &self.name)))
            }
            Watch::Source { offset_file, .. } => {
                let text = fs::read_to_string(offset_file).unwrap_or_default();
                stored::in_file(&text, &self.name).map(Some)
            }
            Watch::Sink { .. } => Ok(None),
        }
    }

    /// Nobody is at work now: nothing is stored or committed beyond what is there to see.
    ///
    /// # Errors
    /// What is lost.
    pub fn check_at_rest(&mut self, arena: &Arena) -> Result<(), String> {
        if !arena.broker_runs {
            return Ok(());
        }
        if self.case.subject == Subject::ExactlyOnce {
            return self.check_atomic(arena);
        }
        // Read first: what is written meanwhile is no excuse.
        let stored = self.stored(arena)?;
        match &mut self.watch {
            Watch::Source { observer, .. } => {
                observer.read_to_end(END_TIMEOUT)?;
                check::stored_is_seen(observer.seen(), &stored.unwrap_or_default())
            }
            Watch::Sink { dir, .. } => {
                let committed = arena.cluster.committed(&format!("connect-{}", self.name), &self.topic);
                let written = written(dir, &self.topic, &self.shape);
                check::committed_is_written(&written, &committed, |p, i| fed(&self.shape, p, i))
            }
        }
    }

    /// Records and offsets of a transaction are seen together or not at all.
    fn check_atomic(&mut self, arena: &Arena) -> Result<(), String> {
        let deadline = Instant::now() + MARKERS_TIMEOUT;
        loop {
            let stored = self.stored(arena)?.unwrap_or_default();
            let Watch::Source { observer, .. } = &mut self.watch else { return Ok(()) };
            observer.read_to_end(END_TIMEOUT)?;
            let mut seen = Stored::new();
            for record in observer.seen() {
                let end = seen.entry(record.series).or_insert(0);
                *end = (*end).max(record.number + 1);
            }
            if seen == stored {
                return Ok(());
            }
            // A reader stops before the transaction that a killed task has left open, and does not see what another task
            // has committed behind it: nothing can be said then.
            let hides = |topic: &str| {
                let ends = |isolation| arena.cluster.ends(topic, isolation);
                ends(Isolation::ReadCommitted) != ends(Isolation::ReadUncommitted)
            };
            if hides(&self.topic) || hides(&self.offsets_topic) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!("records and offsets do not agree: seen {seen:?}, stored {stored:?}"));
            }
        }
    }

    /// Everything has come and every worker has ended, `stopped` in good order; answers how many records came more than
    /// once.
    ///
    /// # Errors
    /// The verdict.
    pub fn check_end(&mut self, arena: &Arena, stopped: Option<u32>) -> Result<usize, String> {
        self.check_at_rest(arena)?;
        let stored = self.stored(arena)?;
        let partitions = i64::try_from(self.shape.partitions).unwrap_or(0);
        let records = i64::try_from(self.shape.records).unwrap_or(0);
        let n_records = self.n_records();
        match &mut self.watch {
            Watch::Source { observer, lives, .. } => {
                let seen = observer.seen();
                if self.case.subject == Subject::ExactlyOnce {
                    check::exactly_once(seen, partitions, records)?;
                } else {
                    check::at_least_once(seen, lives, partitions, records)?;
                }
                let stored = stored.unwrap_or_default();
                for record in seen.iter().filter(|record| Some(record.process) == stopped) {
                    if stored.get(&record.series).is_none_or(|offset| *offset <= record.number) {
                        return Err(format!("{record:?} is not stored after a stop in good order: {stored:?}"));
                    }
                }
                Ok(check::doubled(seen))
            }
            Watch::Sink { dir, feeder } => {
                feeder.finish();
                let written = written(dir, &self.topic, &self.shape);
                let n = written.len();
                if n != n_records {
                    return Err(format!("{n} records are written of {n_records}"));
                }
                let committed = arena.cluster.committed(&format!("connect-{}", self.name), &self.topic);
                for (partition, end) in stopped.map(|pid| record_files::ends(dir, &self.topic, pid)).unwrap_or_default()
                {
                    if committed.get(&partition).is_none_or(|offset| *offset < end) {
                        return Err(format!(
                            "after a stop in good order {committed:?} is committed, but {end} of partition {partition} is written"
                        ));
                    }
                }
                Ok(written.values().map(|values| values.len() - 1).sum())
            }
        }
    }

    /// From now on the store's disk is full, or not any more.
    pub fn fill_disk(&self, full: bool) {
        let path = match &self.watch {
            Watch::Source { offset_file, .. } => offset_file.with_file_name(OFFSETS_BESIDE),
            Watch::Sink { dir, .. } => dir.join(record_files::FULL),
        };
        // What is there of an interrupted write gives way.
        fs::remove_file(&path).ok();
        if full {
            std::os::unix::fs::symlink(FULL_DEVICE, &path).expect("a link can be made");
        }
    }

    /// What was seen, for a failure's folder.
    pub fn dump(&self, to: &Path) {
        if let Watch::Source { observer, lives, .. } = &self.watch {
            let mut text = format!("{lives:#?}\n");
            for record in observer.seen() {
                text.push_str(&format!("{record:?}\n"));
            }
            fs::write(to.join("seen.txt"), text).ok();
        }
    }
}

/// What a sink has written: the values by partition and offset.
fn written(dir: &Path, topic: &str, shape: &Shape) -> BTreeMap<(i32, i64), Vec<String>> {
    if shape.sink != FILE_STREAM_SINK {
        return record_files::read(dir, topic);
    }
    let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
    let text = fs::read_to_string(dir.join(ONE_FILE)).unwrap_or_default();
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        // Each record says where it stands; a line that does not is found under a place where it cannot be right.
        let (p, i) = numbers::parse(line).unwrap_or((-1, -1));
        found.entry((i32::try_from(p).unwrap_or(-1), i)).or_default().push(line.to_owned());
    }
    found
}
