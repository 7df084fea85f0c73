//! What is under test in a cycle, and how far it has come: a source that is watched through its topic, or a sink that is
//! watched through its files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::arena::Arena;
use super::check::{self, Life, Stored};
use super::observer::Observer;
use super::plan::{Case, Kind, Plan, Shape, Subject, ZOMBIE_TRANSACTION_MS};
use super::rules::Fate;
use super::sink::Sink;
use super::stored;
use crate::cluster::Isolation;
use crate::connectors::numbers::{DROP_HEADER, REFUSE_HEADER};
use crate::standalone::Standalone;
use crate::unique;

const LOOK: Duration = Duration::from_millis(10);
const END_TIMEOUT: Duration = Duration::from_secs(30);
/// The markers of a transaction reach its partitions one after the other.
const MARKERS_TIMEOUT: Duration = Duration::from_secs(10);
/// Which file of the worker's folder makes writes of the offset file fail: the file is written beside itself first.
const OFFSETS_BESIDE: &str = "offsets.new";
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
    Source(Box<Source>),
    Sink(Box<Sink>),
}

#[derive(Debug)]
struct Source {
    observer: Observer,
    /// Watches the dead letter queue.
    letters: Option<Observer>,
    lives: Vec<Life>,
    offset_file: PathBuf,
}

impl Source {
    /// Each watched topic, and where a record must end to be there.
    fn places(&mut self) -> impl Iterator<Item = (&mut Observer, Fate)> {
        let letters = self.letters.as_mut().map(|letters| (letters, Fate::Letter));
        std::iter::once((&mut self.observer, Fate::Sent)).chain(letters)
    }
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
            if case.subject.is_sink() || !shape.offsets_in_topic {
                return worker;
            }
            let worker = worker.unset("offset.storage.file.filename").set("offset.storage.topic", &offsets_topic);
            worker.set("offset.storage.partitions", "1").set("offset.storage.replication.factor", "1")
        };
        let workers = [worker(), worker()];
        let folder = workers[0].dir().to_path_buf();
        let watch = if case.subject.is_sink() {
            Watch::Sink(Box::new(Sink::new(&arena.cluster, &name, case.subject, &shape, folder.join("out"))))
        } else {
            let letters = (case.subject == Subject::Chained).then(|| {
                let topic = letters_of(&name);
                arena.cluster.create_topic(&topic, n, &[]);
                Observer::new(&arena.cluster, &topic, n)
            });
            let observer = Observer::new(&arena.cluster, &name, n);
            Watch::Source(Box::new(Source {
                observer,
                letters,
                lives: Vec::new(),
                offset_file: folder.join("offsets"),
            }))
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
        if let Watch::Sink(sink) = &self.watch {
            all.extend(sink.properties());
            return all;
        }
        let rules = shape.rules;
        if self.case.subject == Subject::Marked {
            set("connector.class", &"marks");
            set("transaction.records", &rules.block);
            set("abort.every", &rules.abort_every);
        } else {
            set("connector.class", &"numbers");
            set("group.records", &shape.group_records);
            set("fail.every.polls", &shape.fail_every_polls);
            set("drop.every", &rules.drop_every);
            set("refuse.every", &rules.refuse_every);
        }
        set("topic", &self.topic);
        set("partitions", &shape.partitions);
        set("limit", &shape.records);
        set("record.bytes", &shape.record_bytes);
        set("poll.records", &shape.poll_records);
        set("pause.ms", &shape.pause_ms);
        if self.case.subject.is_transactional() {
            set("exactly.once.support", &"required");
            set("exactly.once.source.support", &"enabled");
            match shape.boundary_ms {
                _ if self.case.subject == Subject::Marked => set("transaction.boundary", &"connector"),
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
        if self.case.subject == Subject::Chained {
            const TRANSFORMS: &str = "org.apache.kafka.connect.transforms";
            set("transforms", &"drop,refuse");
            set("transforms.drop.type", &format!("{TRANSFORMS}.Filter"));
            set("transforms.drop.predicate", &"dropped");
            // No value is a number.
            set("transforms.refuse.type", &format!("{TRANSFORMS}.Cast$Value"));
            set("transforms.refuse.spec", &"int32");
            set("transforms.refuse.predicate", &"refused");
            set("predicates", &"dropped,refused");
            set("predicates.dropped.type", &format!("{TRANSFORMS}.predicates.HasHeaderKey"));
            set("predicates.dropped.name", &DROP_HEADER);
            set("predicates.refused.type", &format!("{TRANSFORMS}.predicates.HasHeaderKey"));
            set("predicates.refused.name", &REFUSE_HEADER);
            set("errors.tolerance", &"all");
            set("errors.deadletterqueue.topic.name", &letters_of(&self.name));
            set("errors.deadletterqueue.topic.replication.factor", &1);
            set("errors.deadletterqueue.context.headers.enable", &true);
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
        match &self.watch {
            Watch::Source(source) => {
                if source.letters.is_some() {
                    arena.cluster.delete_topic(&letters_of(&self.name));
                }
                if self.shape.offsets_in_topic {
                    arena.cluster.delete_topic(&self.offsets_topic);
                }
            }
            Watch::Sink(sink) => sink.clean_up(&arena.cluster),
        }
    }

    /// Changes the sink's topics, and tells the workers' files where these name them.
    pub fn change(&mut self, arena: &Arena, workers: &[Standalone; 2]) {
        if let Watch::Sink(sink) = &mut self.watch {
            sink.change(&arena.cluster);
        }
        for (worker, tasks) in workers.iter().zip([self.shape.tasks, self.shape.tasks_of_other]) {
            worker.rewrite_connector(&self.name, &self.properties(tasks));
        }
    }

    /// Looks a moment, and says how many records there are to see.
    ///
    /// # Errors
    /// Something is there that nobody sent.
    pub fn progress(&mut self) -> Result<usize, String> {
        match &mut self.watch {
            Watch::Source(source) => {
                let mut n = 0;
                for (observer, _) in source.places() {
                    observer.read_for(LOOK)?;
                    n += observer.seen().len();
                }
                Ok(n)
            }
            Watch::Sink(sink) => {
                std::thread::park_timeout(LOOK);
                Ok(sink.n_written())
            }
        }
    }

    /// True if every record is there.
    pub fn is_complete(&self) -> bool {
        match &self.watch {
            Watch::Source(source) => {
                let all = [Some(&source.observer), source.letters.as_ref()].into_iter().flatten();
                let all: BTreeSet<_> =
                    all.flat_map(Observer::seen).map(|record| (record.series, record.number)).collect();
                all.len() >= self.n_records()
            }
            Watch::Sink(sink) => sink.is_complete(),
        }
    }

    /// How many records of a source are to be seen.
    fn n_records(&self) -> usize {
        let Shape { partitions, records, rules, .. } = &self.shape;
        let is_seen = |number: &u64| {
            let number = i64::try_from(*number).unwrap_or(i64::MAX);
            matches!(rules.fate(number), Fate::Sent | Fate::Letter)
        };
        (0..*records).filter(is_seen).count() * usize::try_from(*partitions).expect("few partitions")
    }

    /// A worker was started when this was stored, if that is known.
    pub fn started(&mut self, process: u32, stored: Option<Stored>) {
        let may_be_later = self.shape.offsets_in_topic;
        if let Watch::Source(source) = &mut self.watch {
            source.lives.push(Life { process, stored, may_be_later });
        }
    }

    /// What is stored now; none if it cannot be known.
    ///
    /// # Errors
    /// The offset file is torn.
    pub fn stored(&self, arena: &Arena) -> Result<Option<Stored>, String> {
        match &self.watch {
            Watch::Source(_) if self.shape.offsets_in_topic => {
                Ok(arena.broker_runs.then(|| stored::in_topic(&arena.cluster, &self.offsets_topic, &self.name)))
            }
            Watch::Source(source) => {
                let text = fs::read_to_string(&source.offset_file).unwrap_or_default();
                stored::in_file(&text, &self.name).map(Some)
            }
            Watch::Sink(_) => Ok(None),
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
        if self.case.subject.is_transactional() {
            return self.check_atomic(arena);
        }
        // Read first: what is written meanwhile is no excuse.
        let stored = self.stored(arena)?;
        match &mut self.watch {
            Watch::Source(source) => {
                source.observer.read_to_end(END_TIMEOUT)?;
                check::stored_is_seen(source.observer.seen(), &stored.unwrap_or_default())
            }
            Watch::Sink(sink) => sink.check_at_rest(&arena.cluster),
        }
    }

    /// Records, dead letters and offsets of a transaction are seen together or not at all.
    fn check_atomic(&mut self, arena: &Arena) -> Result<(), String> {
        let deadline = Instant::now() + MARKERS_TIMEOUT;
        let Shape { rules, records, .. } = self.shape;
        loop {
            let stored = self.stored(arena)?.unwrap_or_default();
            let Watch::Source(source) = &mut self.watch else { return Ok(()) };
            let mut verdict = Ok(());
            for (observer, fate) in source.places() {
                observer.read_to_end(END_TIMEOUT)?;
                let agreed = check::atomic(observer.seen(), &stored, |number| rules.fate(number) == fate);
                verdict = verdict.and(agreed);
            }
            if rules.block > 0 {
                let (block, records) = (i64::try_from(rules.block), i64::try_from(records));
                let within = check::at_boundaries(&stored, block.unwrap_or(1), records.unwrap_or(i64::MAX));
                verdict = verdict.and(within);
            }
            let Err(why) = verdict else { return Ok(()) };
            // A reader stops before the transaction that a killed task has left open, and does not see what another task
            // has committed behind it: nothing can be said then.
            let hides = |topic: &str| {
                let ends = |isolation| arena.cluster.ends(topic, isolation);
                ends(Isolation::ReadCommitted) != ends(Isolation::ReadUncommitted)
            };
            let letters = letters_of(&self.name);
            let has_letters = self.case.subject == Subject::Chained;
            if hides(&self.topic) || hides(&self.offsets_topic) || (has_letters && hides(&letters)) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!("records and offsets do not agree: {why}; stored {stored:?}"));
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
        let rules = self.shape.rules;
        match &mut self.watch {
            Watch::Source(source) => {
                let mut doubled = 0;
                let stored = stored.unwrap_or_default();
                if !self.case.subject.is_transactional() {
                    check::at_least_once(source.observer.seen(), &source.lives, partitions, records)?;
                }
                for (observer, fate) in source.places() {
                    let seen = observer.seen();
                    if self.case.subject.is_transactional() {
                        check::exactly_once(seen, partitions, records, |number| rules.fate(number) == fate)?;
                    }
                    for record in seen.iter().filter(|record| Some(record.process) == stopped) {
                        if stored.get(&record.series).is_none_or(|offset| *offset <= record.number) {
                            return Err(format!("{record:?} is not stored after a stop in good order: {stored:?}"));
                        }
                    }
                    doubled += check::doubled(seen);
                }
                Ok(doubled)
            }
            Watch::Sink(sink) => sink.check_end(&arena.cluster, stopped),
        }
    }

    /// A worker that was stopped in good order has counted what became of the records.
    ///
    /// # Errors
    /// Which count is wrong.
    pub fn check_counts(&self, arena: &Arena, log: &str) -> Result<(), String> {
        if self.case.subject != Subject::Chained {
            return Ok(());
        }
        let stored = self.stored(arena)?.unwrap_or_default();
        check::counted(log, &stored, |number| self.shape.rules.fate(number))
    }

    /// From now on the store's disk is full, or not any more.
    pub fn fill_disk(&self, full: bool) {
        let path = match &self.watch {
            Watch::Source(source) => source.offset_file.with_file_name(OFFSETS_BESIDE),
            Watch::Sink(sink) => sink.full(),
        };
        // What is there of an interrupted write gives way.
        fs::remove_file(&path).ok();
        if full {
            std::os::unix::fs::symlink(FULL_DEVICE, &path).expect("a link can be made");
        }
    }

    /// What was seen, for a failure's folder.
    pub fn dump(&self, to: &Path) {
        if let Watch::Source(source) = &self.watch {
            let mut text = format!("{:#?}\n", source.lives);
            for record in source.observer.seen().iter().chain(source.letters.iter().flat_map(Observer::seen)) {
                text.push_str(&format!("{record:?}\n"));
            }
            fs::write(to.join("seen.txt"), text).ok();
        }
    }
}

/// The dead letter queue of a connector.
fn letters_of(name: &str) -> String {
    format!("{name}-letters")
}
