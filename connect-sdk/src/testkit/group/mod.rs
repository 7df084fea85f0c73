//! `MemoryGroup`: topics, and a consumer group of one member whose every event a test decides.

mod member;
mod topics;

use self::{member::Member, topics::Topics};
use crate::{
    error::TaskError,
    sink::TopicPartition,
    task::ports::{ConsumedBatch, ConsumerEvent, RecordConsumer},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
};

type Positions = Vec<(Arc<TopicPartition>, i64)>;
type HeaderBytes = (Vec<u8>, Option<Vec<u8>>);

/// A record as bytes, before a sink's converters.
#[allow(clippy::exhaustive_structs, reason = "tests write it out; Kafka's records have no other parts")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawRecord {
    /// The key; `None` is null.
    pub key: Option<Vec<u8>>,
    /// The value; `None` is null.
    pub value: Option<Vec<u8>>,
    /// Milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// Header names and values.
    pub headers: Vec<HeaderBytes>,
}

impl RawRecord {
    /// A record with this value alone.
    #[must_use]
    pub fn value(value: impl Into<Vec<u8>>) -> Self {
        Self { value: Some(value.into()), ..Self::default() }
    }
}

/// What a task asks of its consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupCall {
    /// Reads partitions from these offsets.
    Start(Vec<(TopicPartition, i64)>),
    /// Gives revoked partitions up.
    Released,
    /// Commits in the background.
    Commit(Vec<(TopicPartition, i64)>),
    /// Commits and waits.
    CommitNow(Vec<(TopicPartition, i64)>),
    /// Stops partitions.
    Pause(Vec<TopicPartition>),
    /// Starts them again.
    Resume(Vec<TopicPartition>),
    /// Changes positions.
    Seek(Vec<(TopicPartition, i64)>),
    /// Leaves the group.
    Close,
}

impl fmt::Display for GroupCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, names) = match self {
            Self::Start(at) => ("start", with_offsets(at)),
            Self::Released => ("released", String::new()),
            Self::Commit(at) => ("commit", with_offsets(at)),
            Self::CommitNow(at) => ("commit_now", with_offsets(at)),
            Self::Pause(partitions) => ("pause", without_offsets(partitions)),
            Self::Resume(partitions) => ("resume", without_offsets(partitions)),
            Self::Seek(at) => ("seek", with_offsets(at)),
            Self::Close => ("leave", String::new()),
        };
        write!(f, "{word}{names}")
    }
}

fn with_offsets(positions: &[(TopicPartition, i64)]) -> String {
    positions.iter().map(|(p, at)| format!(" {p}={at}")).collect()
}

fn without_offsets(partitions: &[TopicPartition]) -> String {
    partitions.iter().map(|p| format!(" {p}")).collect()
}

/// Told each call of a task, as it comes.
#[derive(Default)]
struct Watcher(Option<Watch>);

type Watch = Box<dyn Fn(&GroupCall) + Send>;

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

/// Topics in memory with one consumer group, and a script of what happens to its only member. Clones are the same.
///
/// It checks what no task may do: commit a partition that it does not own, beyond what was delivered, or backwards.
#[derive(Debug, Clone, Default)]
pub struct MemoryGroup {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    topics: Arc<Mutex<Topics>>,
    script: VecDeque<ConsumerEvent>,
    failure: Option<TaskError>,
    reading: BTreeMap<Arc<TopicPartition>, i64>,
    paused: BTreeSet<Arc<TopicPartition>>,
    awaits: Awaits,
    results: VecDeque<(u64, Result<(), TaskError>)>,
    commits_to_fail: usize,
    answers_to_lose: usize,
    commits_held: bool,
    held: Vec<(u64, Result<(), TaskError>)>,
    batch_records_max: usize,
    watcher: Watcher,
    violations: Vec<String>,
    /// Counts members, so that what an old one asks after its end has no effect.
    member: u64,
    waker: Option<Waker>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            topics: Arc::default(),
            script: VecDeque::new(),
            failure: None,
            reading: BTreeMap::new(),
            paused: BTreeSet::new(),
            awaits: Awaits::Nothing,
            results: VecDeque::new(),
            commits_to_fail: 0,
            answers_to_lose: 0,
            commits_held: false,
            held: Vec::new(),
            batch_records_max: 500,
            watcher: Watcher::default(),
            violations: Vec::new(),
            member: 0,
            waker: None,
        }
    }
}

/// Whose reply the group waits for.
#[derive(Debug, Default)]
enum Awaits {
    #[default]
    Nothing,
    Start,
    Release(Vec<Arc<TopicPartition>>),
}

impl MemoryGroup {
    /// No topics, no member.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The string of another member, with the same topics and the same committed offsets.
    #[must_use]
    pub fn beside(&self) -> Self {
        let topics = Arc::clone(&self.state().topics);
        Self { state: Arc::new(Mutex::new(State { topics, ..State::default() })) }
    }

    /// A new member; an old one gets nothing any more. It owns what [`Self::assign`] has given or will give.
    #[must_use]
    pub fn join(&self) -> Box<dyn RecordConsumer> {
        let mut state = self.state();
        state.member += 1;
        state.results.clear();
        state.held.clear();
        state.reading.clear();
        state.paused.clear();
        state.awaits = Awaits::Nothing;
        Box::new(Member { group: self.clone(), number: state.member })
    }

    /// Appends a record and returns its offset.
    pub fn append(&self, partition: &TopicPartition, record: RawRecord) -> i64 {
        self.change_topics(|topics| {
            let log = topics.logs.entry(partition.clone()).or_default();
            let offset = log.end;
            log.records.insert(offset, record);
            log.end += 1;
            offset
        })
    }

    /// Appends what a consumer passes over without a record: a transaction marker.
    pub fn append_marker(&self, partition: &TopicPartition) {
        self.change_topics(|topics| topics.logs.entry(partition.clone()).or_default().end += 1);
    }

    /// At most this many records come at once; 500 at first.
    pub fn batch_records_max(&self, n: usize) {
        self.change(|state| state.batch_records_max = n.max(1));
    }

    /// Gives partitions to the member, which is told their committed offsets (0 where there is none).
    pub fn assign(&self, partitions: &[TopicPartition]) {
        self.change(|state| {
            let topics = state.topics();
            let with_offset = |p: &TopicPartition| (Arc::new(p.clone()), topics.committed.get(p).copied().unwrap_or(0));
            let event = ConsumerEvent::Assigned(partitions.iter().map(with_offset).collect());
            drop(topics);
            state.script.push_back(event);
        });
    }

    /// Takes partitions from the member, which may make a last commit.
    pub fn revoke(&self, partitions: &[TopicPartition]) {
        self.change(|state| state.script.push_back(ConsumerEvent::Revoked(shared(partitions))));
    }

    /// Takes partitions from the member without asking.
    pub fn lose(&self, partitions: &[TopicPartition]) {
        self.change(|state| {
            let lost = shared(partitions);
            state.reading.retain(|p, _| !lost.contains(p));
            state.script.push_back(ConsumerEvent::Lost(lost));
        });
    }

    /// Breaks the consumer: its next event is this error.
    pub fn fail(&self, error: TaskError) {
        self.change(|state| state.failure = Some(error));
    }

    /// Lets the next `n` commits fail, of either kind.
    pub fn fail_commits(&self, n: usize) {
        self.change(|state| state.commits_to_fail = n);
    }

    /// The next `n` commits have their effect, but their results are errors.
    pub fn lose_commit_answers(&self, n: usize) {
        self.change(|state| state.answers_to_lose = n);
    }

    /// While true, the results of background commits are kept back; the commits have their effect.
    pub fn hold_commits(&self, hold: bool) {
        self.change(|state| {
            state.commits_held = hold;
            if !hold {
                let held = std::mem::take(&mut state.held);
                state.results.extend(held);
            }
        });
    }

    /// The result of a commit that nobody made, as a broker might answer late.
    pub fn answer_commit(&self, number: u64, result: Result<(), TaskError>) {
        self.change(|state| state.results.push_back((number, result)));
    }

    /// What the group has committed.
    #[must_use]
    pub fn committed(&self, partition: &TopicPartition) -> Option<i64> {
        self.state().topics().committed.get(partition).copied()
    }

    /// Forgets the events that no member has heard yet, as a group does that is formed anew.
    pub fn forget_script(&self) {
        self.change(|state| state.script.clear());
    }

    /// From now on `watcher` is told every call of the task, as it comes.
    pub fn watch(&self, watcher: impl Fn(&GroupCall) + Send + 'static) {
        self.change(|state| state.watcher = Watcher(Some(Box::new(watcher))));
    }

    /// What no task may do, and was done.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// True if the member has heard everything: no event, no result and no record waits for it.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let state = self.state();
        matches!(state.awaits, Awaits::Nothing)
            && state.script.is_empty()
            && state.results.is_empty()
            && state.next_readable().is_none()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let result = f(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        result
    }
}

impl MemoryGroup {
    /// Changes what all members see, and wakes them.
    fn change_topics<T>(&self, f: impl FnOnce(&mut Topics) -> T) -> T {
        let topics = Arc::clone(&self.state().topics);
        let mut topics = topics.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut topics);
        let wakers = std::mem::take(&mut topics.wakers);
        drop(topics);
        wakers.into_iter().for_each(Waker::wake);
        result
    }
}

impl State {
    fn topics(&self) -> MutexGuard<'_, Topics> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn called(&self, call: &GroupCall) {
        if let Watcher(Some(watcher)) = &self.watcher {
            watcher(call);
        }
    }

    /// A partition with something to read.
    fn next_readable(&self) -> Option<&Arc<TopicPartition>> {
        let topics = self.topics();
        let readable = |p: &&Arc<TopicPartition>| {
            let end = topics.logs.get(&***p).map_or(0, |log| log.end);
            !self.paused.contains(*p) && self.reading.get(*p).is_some_and(|at| *at < end)
        };
        self.reading.keys().find(readable)
    }

    /// One event, as the member hears it.
    fn next_event(&mut self) -> Option<ConsumerEvent> {
        match self.script.pop_front() {
            Some(event) => {
                match &event {
                    ConsumerEvent::Assigned(_) => self.awaits = Awaits::Start,
                    ConsumerEvent::Revoked(gone) => self.awaits = Awaits::Release(gone.clone()),
                    // What was given in the script before is gone by now.
                    ConsumerEvent::Lost(gone) => self.reading.retain(|p, _| !gone.contains(p)),
                    _ => {}
                }
                Some(event)
            }
            None => self.next_batch().map(ConsumerEvent::Records),
        }
    }

    fn next_batch(&mut self) -> Option<ConsumedBatch> {
        self.next_readable()?;
        let topics = Arc::clone(&self.topics);
        let topics = topics.lock().unwrap_or_else(PoisonError::into_inner);
        Some(topics.next_batch(&mut self.reading, &self.paused, self.batch_records_max))
    }

    fn check_commit(&mut self, offsets: &Positions) {
        for (partition, offset) in offsets {
            let Some(at) = self.reading.get(partition) else {
                // A loss that the member has not heard of yet is none of its mistakes.
                let unheard = |event: &ConsumerEvent| matches!(event, ConsumerEvent::Lost(p) if p.contains(partition));
                if !self.script.iter().any(unheard) {
                    self.violations.push(format!("commits `{partition}`, which it does not own"));
                }
                continue;
            };
            if offset > at {
                self.violations.push(format!("commits {offset} of `{partition}`, but only {at} was delivered"));
            }
            let before = self.topics().committed.get(&**partition).copied().unwrap_or(0);
            if *offset < before {
                self.violations.push(format!("commits {offset} of `{partition}`, which goes back from {before}"));
            }
        }
    }

    /// Carries out a commit, unless the script says that it fails.
    fn store(&mut self, offsets: &Positions) -> Result<(), TaskError> {
        if self.commits_to_fail > 0 {
            self.commits_to_fail -= 1;
            return Err(TaskError::retriable("the commit was refused, as the script says"));
        }
        if let Some((lost, _)) = offsets.iter().find(|(p, _)| !self.reading.contains_key(p)) {
            return Err(TaskError::retriable(format!("`{lost}` is not the member's any more")));
        }
        self.topics().commit(offsets);
        if self.answers_to_lose > 0 {
            self.answers_to_lose -= 1;
            return Err(TaskError::retriable("the answer to the commit was lost, as the script says"));
        }
        Ok(())
    }
}

fn shared(partitions: &[TopicPartition]) -> Vec<Arc<TopicPartition>> {
    partitions.iter().cloned().map(Arc::new).collect()
}

fn plain(positions: &Positions) -> Vec<(TopicPartition, i64)> {
    positions.iter().map(|(p, o)| (TopicPartition::clone(p), *o)).collect()
}
