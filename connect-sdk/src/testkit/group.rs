//! `MemoryGroup`: topics, and a consumer group of one member whose every event a test decides.

use crate::{
    erased::BoxFuture,
    error::TaskError,
    sink::TopicPartition,
    task::ports::{ConsumedBatch, ConsumedRecord, ConsumerEvent, RecordConsumer},
};
use bytes::BytesMut;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
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
    logs: BTreeMap<TopicPartition, Log>,
    committed: BTreeMap<TopicPartition, i64>,
    script: VecDeque<ConsumerEvent>,
    failure: Option<TaskError>,
    reading: BTreeMap<Arc<TopicPartition>, i64>,
    paused: BTreeSet<Arc<TopicPartition>>,
    awaits: Awaits,
    results: VecDeque<(u64, Result<(), TaskError>)>,
    commits_to_fail: usize,
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
            logs: BTreeMap::new(),
            committed: BTreeMap::new(),
            script: VecDeque::new(),
            failure: None,
            reading: BTreeMap::new(),
            paused: BTreeSet::new(),
            awaits: Awaits::Nothing,
            results: VecDeque::new(),
            commits_to_fail: 0,
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

#[derive(Debug, Default)]
struct Log {
    /// By offset; an offset that is missing is a transaction marker or was compacted away.
    records: BTreeMap<i64, RawRecord>,
    end: i64,
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
        self.change(|state| {
            let log = state.logs.entry(partition.clone()).or_default();
            let offset = log.end;
            log.records.insert(offset, record);
            log.end += 1;
            offset
        })
    }

    /// Appends what a consumer passes over without a record: a transaction marker.
    pub fn append_marker(&self, partition: &TopicPartition) {
        self.change(|state| state.logs.entry(partition.clone()).or_default().end += 1);
    }

    /// At most this many records come at once; 500 at first.
    pub fn batch_records_max(&self, n: usize) {
        self.change(|state| state.batch_records_max = n.max(1));
    }

    /// Gives partitions to the member, which is told their committed offsets (0 where there is none).
    pub fn assign(&self, partitions: &[TopicPartition]) {
        self.change(|state| {
            let with_offset = |p: &TopicPartition| (Arc::new(p.clone()), state.committed.get(p).copied().unwrap_or(0));
            let event = ConsumerEvent::Assigned(partitions.iter().map(with_offset).collect());
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
        self.state().committed.get(partition).copied()
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

impl State {
    fn called(&self, call: &GroupCall) {
        if let Watcher(Some(watcher)) = &self.watcher {
            watcher(call);
        }
    }

    /// A partition with something to read.
    fn next_readable(&self) -> Option<&Arc<TopicPartition>> {
        let readable = |p: &&Arc<TopicPartition>| {
            let end = self.logs.get(&***p).map_or(0, |log| log.end);
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
                    _ => {}
                }
                Some(event)
            }
            None => self.next_batch().map(ConsumerEvent::Records),
        }
    }

    fn next_batch(&mut self) -> Option<ConsumedBatch> {
        self.next_readable()?;
        let (mut batch, mut buffer) = (ConsumedBatch::default(), BytesMut::new());
        for (partition, at) in &mut self.reading {
            let Some(log) = self.logs.get(&**partition).filter(|_| !self.paused.contains(partition)) else { continue };
            let room = self.batch_records_max - batch.records.len();
            if *at >= log.end || room == 0 {
                continue;
            }
            let index = u32::try_from(batch.partitions.len()).unwrap_or(u32::MAX);
            let coming: Vec<_> = log.records.range(*at..).take(room).collect();
            for (offset, record) in &coming {
                add(&mut batch, &mut buffer, index, **offset, record);
            }
            // Beyond the last record there may be markers, which the consumer has passed over already.
            let exhausted = log.records.range(*at..).nth(room).is_none();
            *at = coming.last().filter(|_| !exhausted).map_or(log.end, |(offset, _)| **offset + 1);
            batch.partitions.push(Arc::clone(partition));
            batch.positions.push(*at);
        }
        batch.buffer = buffer.freeze();
        Some(batch)
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
            let before = self.committed.get(&**partition).copied().unwrap_or(0);
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
        self.committed.extend(plain(offsets));
        Ok(())
    }
}

fn shared(partitions: &[TopicPartition]) -> Vec<Arc<TopicPartition>> {
    partitions.iter().cloned().map(Arc::new).collect()
}

fn plain(positions: &Positions) -> Vec<(TopicPartition, i64)> {
    positions.iter().map(|(p, o)| (TopicPartition::clone(p), *o)).collect()
}

fn names(partitions: &[Arc<TopicPartition>]) -> Vec<TopicPartition> {
    partitions.iter().map(|p| TopicPartition::clone(p)).collect()
}

fn add(batch: &mut ConsumedBatch, buffer: &mut BytesMut, partition: u32, offset: i64, record: &RawRecord) {
    let mut place = |bytes: &[u8]| {
        let start = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        buffer.extend_from_slice(bytes);
        (start, u32::try_from(bytes.len()).unwrap_or(u32::MAX))
    };
    let key = record.key.as_deref().map(&mut place);
    let value = record.value.as_deref().map(&mut place);
    let first = u32::try_from(batch.headers.len()).unwrap_or(u32::MAX);
    for (name, value) in &record.headers {
        let header = (place(name), value.as_deref().map(&mut place));
        batch.headers.push(header);
    }
    let headers = (first, u32::try_from(record.headers.len()).unwrap_or(u32::MAX));
    batch.records.push(ConsumedRecord { partition, offset, timestamp: record.timestamp, key, value, headers });
}

struct Member {
    group: MemoryGroup,
    number: u64,
}

impl Member {
    /// Does something to the group, unless this member has been replaced.
    fn act(&self, f: impl FnOnce(&mut State)) {
        self.group.change(|state| {
            if state.member == self.number {
                f(state);
            }
        });
    }
}

impl RecordConsumer for Member {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<ConsumerEvent, TaskError>> {
        let mut state = self.group.state();
        if state.member == self.number {
            if let Some(error) = state.failure.take() {
                return Poll::Ready(Err(error));
            }
            // A group that waits for a reply still tells the results of commits.
            if let Some((number, result)) = state.results.pop_front() {
                return Poll::Ready(Ok(ConsumerEvent::Committed { number, result }));
            }
            if matches!(state.awaits, Awaits::Nothing)
                && let Some(event) = state.next_event()
            {
                return Poll::Ready(Ok(event));
            }
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn start(&mut self, from: Positions) {
        self.act(|state| {
            state.called(&GroupCall::Start(plain(&from)));
            if !matches!(state.awaits, Awaits::Start) {
                state.violations.push("starts partitions that were not assigned just now".to_owned());
            }
            state.awaits = Awaits::Nothing;
            // As in Kafka's clients an assignment begins without pauses.
            state.paused.retain(|p| !from.iter().any(|(started, _)| started == p));
            state.reading.extend(from);
        });
    }

    fn released(&mut self) {
        self.act(|state| {
            state.called(&GroupCall::Released);
            match std::mem::take(&mut state.awaits) {
                Awaits::Release(gone) => {
                    state.reading.retain(|p, _| !gone.contains(p));
                    state.paused.retain(|p| !gone.contains(p));
                }
                other => {
                    state.awaits = other;
                    state.violations.push("releases partitions that were not revoked".to_owned());
                }
            }
        });
    }

    fn commit(&mut self, number: u64, offsets: Positions) {
        self.act(|state| {
            state.called(&GroupCall::Commit(plain(&offsets)));
            state.check_commit(&offsets);
            let result = state.store(&offsets);
            if state.commits_held {
                state.held.push((number, result));
            } else {
                state.results.push_back((number, result));
            }
        });
    }

    fn commit_now(&mut self, offsets: Positions) -> BoxFuture<'_, Result<(), TaskError>> {
        let mut result = Ok(());
        self.act(|state| {
            state.called(&GroupCall::CommitNow(plain(&offsets)));
            state.check_commit(&offsets);
            result = state.store(&offsets);
        });
        Box::pin(std::future::ready(result))
    }

    fn pause(&mut self, partitions: Vec<Arc<TopicPartition>>) {
        self.act(|state| {
            state.called(&GroupCall::Pause(names(&partitions)));
            state.paused.extend(partitions);
        });
    }

    fn resume(&mut self, partitions: Vec<Arc<TopicPartition>>) {
        self.act(|state| {
            state.called(&GroupCall::Resume(names(&partitions)));
            state.paused.retain(|p| !partitions.contains(p));
        });
    }

    fn seek(&mut self, to: Positions) {
        self.act(|state| {
            state.called(&GroupCall::Seek(plain(&to)));
            for (partition, offset) in to {
                if let Some(at) = state.reading.get_mut(&partition) {
                    *at = offset;
                }
            }
        });
    }

    fn close(&mut self) -> BoxFuture<'_, ()> {
        self.act(|state| {
            state.called(&GroupCall::Close);
            state.reading.clear();
            state.script.clear();
            state.awaits = Awaits::Nothing;
        });
        Box::pin(std::future::ready(()))
    }
}
