//! `Ledger`: which member has which partitions, what its sink was told, put and called safe. It finds the broken promises.

use super::super::journal::Journal;
use crate::{
    sink::{CloseReason, StartOffsets, TopicPartition},
    task::sink_offsets::Positions,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The books of one run. Clones are the same.
#[derive(Clone)]
pub(super) struct Ledger {
    journal: Journal,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    members: Vec<MemberBooks>,
    /// The offsets that were committed and not looked after in the target.
    news: Vec<(TopicPartition, i64)>,
    /// What the group has committed.
    committed: BTreeMap<TopicPartition, i64>,
    /// Partitions that were given back by whoever had them, and not taken up by the world.
    free: Vec<TopicPartition>,
    /// For each partition that is being given up, or that nobody has, from which offset on its last owner may write
    /// nothing more.
    given_up: BTreeMap<TopicPartition, GivenUp>,
    /// One was added to these.
    gave_up: bool,
    n_given_up: u64,
    /// The offset after the last record that was ever put.
    reached: BTreeMap<TopicPartition, i64>,
    /// Where a sink has started by itself: what is below needs no commit.
    wanted: BTreeMap<TopicPartition, i64>,
    /// What was called safe last.
    answers: BTreeMap<TopicPartition, i64>,
}

/// A partition that is closed by its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GivenUp {
    /// What stands from here on belongs to whoever comes next.
    pub(super) from: i64,
    /// Tells one time from another.
    pub(super) number: u64,
}

/// One member of the group: a task, from its start to its end.
#[derive(Default)]
struct MemberBooks {
    owned: BTreeMap<TopicPartition, Owned>,
    /// Partitions whose revocation was heard and not answered.
    revoked: Vec<TopicPartition>,
    /// Closing was asked; these must be closed before anything else is called.
    to_close: Option<Vec<TopicPartition>>,
    /// The last commit of a stop was asked: nothing but `closed` and `close` may follow.
    stops: bool,
    /// A call into the sink is under way.
    in_call: bool,
    /// Commits without a result.
    sent: BTreeMap<u64, Vec<TopicPartition>>,
    n_opened: u64,
}

/// A partition that a member has.
#[derive(Default)]
struct Owned {
    assigned_at: i64,
    /// It was given anew, at this offset, before the sink could be told that it was lost.
    again: Option<i64>,
    /// The sink knows of it.
    told: bool,
    /// Where the sink wanted to start.
    wanted: Option<i64>,
    /// The offset after the last record that this sink was given.
    next: Option<i64>,
    /// Put, and no commit was asked since.
    unasked: bool,
    /// What the sink called safe.
    safe: Option<i64>,
}

impl Ledger {
    pub(super) fn new(journal: Journal) -> Self {
        Self { journal, state: Arc::default() }
    }

    /// A member joins. Returns its number in the books.
    pub(super) fn joins(&self) -> usize {
        let mut state = self.lock();
        state.members.push(MemberBooks::default());
        state.members.len() - 1
    }

    /// A member is gone, with all that it had.
    pub(super) fn is_gone(&self, member: usize) {
        self.lock().members[member] = MemberBooks::default();
    }

    /// The consumer tells that partitions were given, with the offsets to read from.
    pub(super) fn assigned(&self, member: usize, partitions: &[(Arc<TopicPartition>, i64)]) {
        let mut state = self.lock();
        for (partition, offset) in partitions {
            state.given_up.remove(&**partition);
            match state.members[member].owned.get_mut(&**partition) {
                // The sink has not heard yet that it was lost before.
                Some(owned) if owned.told => owned.again = Some(*offset),
                _ => {
                    let owned = Owned { assigned_at: *offset, ..Owned::default() };
                    state.members[member].owned.insert(TopicPartition::clone(partition), owned);
                }
            }
        }
    }

    /// The consumer tells that partitions are taken.
    pub(super) fn revoked(&self, member: usize, partitions: &[Arc<TopicPartition>]) {
        let books = &mut self.lock().members[member];
        if books.in_call {
            self.journal.saw("a revocation during a call into the sink");
        }
        if partitions.iter().any(|p| books.owned.get(&**p).is_some_and(|owned| owned.unasked)) {
            self.journal.saw("a revocation between put and pre_commit");
        }
        books.revoked = partitions.iter().map(|p| TopicPartition::clone(p)).collect();
    }

    /// The consumer tells that partitions are gone.
    pub(super) fn lost(&self, member: usize, partitions: &[Arc<TopicPartition>]) {
        let books = &mut self.lock().members[member];
        if partitions.iter().any(|p| books.owned.get(&**p).is_some_and(|owned| owned.unasked)) {
            self.journal.saw("a loss of records that were put and not committed");
        }
    }

    /// The consumer tells how a commit has ended.
    pub(super) fn answered(&self, member: usize, number: u64) {
        let books = &mut self.lock().members[member];
        let partitions = books.sent.remove(&number).unwrap_or_default();
        if partitions.iter().any(|p| !books.owned.contains_key(p)) {
            self.journal.saw("the result of a commit after its partition was given up");
        }
    }

    /// A sink is opened.
    pub(super) fn opened(&self, member: usize) {
        let books = &mut self.lock().members[member];
        books.n_opened += 1;
        if books.n_opened > 1 {
            self.journal.saw("a sink that was opened again");
        }
    }

    /// A sink is dropped: it is told nothing any more, and another one begins anew.
    pub(super) fn dropped(&self, member: usize) {
        let books = &mut self.lock().members[member];
        books.to_close = None;
        books.in_call = false;
        for owned in books.owned.values_mut() {
            let assigned_at = owned.again.unwrap_or(owned.assigned_at);
            *owned = Owned { assigned_at, safe: owned.safe, ..Owned::default() };
        }
    }

    /// A call into the sink begins.
    pub(super) fn calls(&self, member: usize, call: &str) {
        let books = &mut self.lock().members[member];
        books.in_call = true;
        if let Some(partitions) = &books.to_close
            && call != "closed"
        {
            let text = format!("`{call}` is called between `pre_commit(Closing)` and `closed` of {}", list(partitions));
            self.journal.violated(text);
        }
        if books.stops && !matches!(call, "closed" | "close") {
            self.journal.violated(format!("`{call}` is called after the last commit of a stop"));
        }
    }

    /// A call into the sink has returned.
    pub(super) fn returns(&self, member: usize) {
        self.lock().members[member].in_call = false;
    }

    /// The sink learns of partitions.
    pub(super) fn tells(&self, member: usize, partitions: &[TopicPartition]) {
        let mut state = self.lock();
        for partition in partitions {
            match state.members[member].owned.get_mut(partition) {
                Some(owned) => {
                    owned.told = true;
                    owned.safe = None;
                }
                None => {
                    self.journal.violated(format!("the sink is assigned {partition}, which its task does not have"));
                }
            }
        }
    }

    /// The sink says where it wants to start.
    pub(super) fn wants(&self, member: usize, start: &StartOffsets) {
        let mut state = self.lock();
        for (partition, offset) in start.iter() {
            if let Some(owned) = state.members[member].owned.get_mut(partition) {
                owned.wanted = Some(offset);
            }
            state.wanted.insert(partition.clone(), offset);
        }
    }

    /// Records are put: of each, its partition and offset.
    pub(super) fn puts(&self, member: usize, records: &[(TopicPartition, i64)]) {
        let mut state = self.lock();
        let State { members, committed, .. } = &mut *state;
        let mut at: BTreeMap<&TopicPartition, i64> = BTreeMap::new();
        for (partition, offset) in records {
            let Some(owned) = members[member].owned.get(partition).filter(|owned| owned.told) else {
                self.journal.violated(format!("record {offset} of {partition} is put, which the sink does not have"));
                continue;
            };
            let committed = committed.get(partition).copied().unwrap_or(0).max(owned.assigned_at);
            let (lowest, highest) = match (at.get(partition).copied().or(owned.next), owned.wanted) {
                (Some(next), _) => (next, next),
                (None, Some(wanted)) => (wanted, wanted),
                // A sink that is opened again begins where its task knows of a commit, or where it began.
                (None, None) => (owned.assigned_at, committed),
            };
            if !(lowest..=highest).contains(offset) {
                self.journal.violated(format!(
                    "record {offset} of {partition} is put, but it is the turn of {lowest} (or up to {highest})"
                ));
            }
            at.insert(partition, offset + 1);
        }
    }

    /// A put was accepted.
    pub(super) fn put(&self, member: usize, records: &[(TopicPartition, i64)]) {
        let mut state = self.lock();
        for (partition, offset) in records {
            if let Some(owned) = state.members[member].owned.get_mut(partition) {
                owned.next = Some(offset + 1);
                owned.unasked = true;
            }
            let reached = state.reached.entry(partition.clone()).or_default();
            *reached = (*reached).max(offset + 1);
        }
    }

    /// The last commit of partitions is asked.
    pub(super) fn closing(&self, member: usize, partitions: &[TopicPartition], why: CloseReason) {
        let books = &mut self.lock().members[member];
        if let Some(other) = partitions.iter().find(|p| !books.owned.contains_key(p)) {
            self.journal.violated(format!("`pre_commit(Closing)` asks for {other}, which the task does not have"));
        }
        books.to_close = Some(partitions.to_vec());
        books.stops |= why == CloseReason::Stopping;
    }

    /// What the sink called safe.
    pub(super) fn safe(&self, member: usize, safe: &[(Arc<TopicPartition>, i64)]) {
        let mut state = self.lock();
        for (partition, offset) in safe {
            if let Some(owned) = state.members[member].owned.get_mut(&**partition) {
                owned.safe = Some(*offset);
                owned.unasked = false;
            }
            state.answers.insert(TopicPartition::clone(partition), *offset);
        }
        for partition in state.members[member].to_close.clone().unwrap_or_default() {
            state.gives_up(member, &partition);
        }
    }

    /// The sink is told that partitions are closed.
    pub(super) fn closed(&self, member: usize, partitions: &[TopicPartition], why: CloseReason) {
        let mut state = self.lock();
        let books = &mut state.members[member];
        let expected = books.to_close.take();
        if why != CloseReason::Lost && expected.as_deref() != Some(partitions) {
            self.journal.violated(format!(
                "`closed({why:?})` of {} without `pre_commit(Closing)` of the same right before",
                list(partitions)
            ));
        }
        for partition in partitions {
            let Some(owned) = books.owned.get_mut(partition).filter(|owned| owned.told) else {
                self.journal.violated(format!("`closed` of {partition}, which the sink does not have"));
                continue;
            };
            owned.told = false;
            if why == CloseReason::Lost {
                owned.safe = None;
            }
        }
        for partition in partitions {
            if !state.given_up.contains_key(partition) {
                state.gives_up(member, partition);
            }
            if why == CloseReason::Lost
                && let Some(owned) = state.members[member].owned.remove(partition)
                && let Some(assigned_at) = owned.again
            {
                state.given_up.remove(partition);
                let owned = Owned { assigned_at, ..Owned::default() };
                state.members[member].owned.insert(partition.clone(), owned);
            }
        }
    }

    /// A commit is sent; one whose result comes later has a number.
    pub(super) fn commits(&self, member: usize, number: Option<u64>, offsets: &Positions) {
        let books = &mut self.lock().members[member];
        for (partition, offset) in offsets {
            let safe = books.owned.get(&**partition).and_then(|owned| owned.safe);
            if safe.is_none_or(|safe| *offset > safe) {
                let safe = safe.map_or("nothing".to_owned(), |safe| safe.to_string());
                self.journal.violated(format!("{offset} of {partition} is committed, but {safe} was called safe"));
            }
        }
        if let Some(number) = number {
            books.sent.insert(number, offsets.iter().map(|(p, _)| TopicPartition::clone(p)).collect());
        }
    }

    /// What the group has committed of these partitions now.
    pub(super) fn committed(&self, offsets: impl IntoIterator<Item = (TopicPartition, i64)>) {
        let mut state = self.lock();
        for (partition, offset) in offsets {
            if state.committed.insert(partition.clone(), offset) != Some(offset) {
                state.news.push((partition, offset));
            }
        }
    }

    /// Revoked partitions are given up.
    pub(super) fn released(&self, member: usize) {
        let mut state = self.lock();
        let State { members, free, .. } = &mut *state;
        let books = &mut members[member];
        let gone = std::mem::take(&mut books.revoked);
        if let Some(early) = gone.iter().find(|p| books.owned.get(p).is_some_and(|owned| owned.told)) {
            self.journal.violated(format!("{early} is given up before the sink was told `closed`"));
        }
        books.owned.retain(|p, _| !gone.contains(p));
        free.extend(gone);
    }

    /// What was committed since the last call of this.
    pub(super) fn take_news(&self) -> Vec<(TopicPartition, i64)> {
        std::mem::take(&mut self.lock().news)
    }

    /// True if something was committed or given up that has not been looked after in the target.
    pub(super) fn has_news(&self) -> bool {
        let state = self.lock();
        !state.news.is_empty() || state.gave_up
    }

    /// The partitions that were given back since the last call of this.
    pub(super) fn take_free(&self) -> Vec<TopicPartition> {
        std::mem::take(&mut self.lock().free)
    }

    /// Partitions that are being given up, or that nobody has.
    pub(super) fn given_up(&self) -> BTreeMap<TopicPartition, GivenUp> {
        let mut state = self.lock();
        state.gave_up = false;
        state.given_up.clone()
    }

    /// What the sinks have not got, or not committed although they called it safe, of a partition with `end` records.
    pub(super) fn missing(&self, partition: &TopicPartition, end: i64) -> Option<String> {
        let state = self.lock();
        let of = |map: &BTreeMap<TopicPartition, i64>| map.get(partition).copied().unwrap_or(0);
        let (reached, safe, committed) =
            (of(&state.reached), of(&state.answers), of(&state.committed).max(of(&state.wanted)));
        if reached.max(of(&state.wanted)) < end {
            return Some(format!("of {end} records of {partition} only {reached} were put"));
        }
        (committed < safe).then(|| format!("{safe} of {partition} was called safe, but {committed} is committed"))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn gives_up(&mut self, member: usize, partition: &TopicPartition) {
        // Of a lost partition others may know before whoever has lost it.
        if self.members.iter().enumerate().any(|(n, books)| n != member && books.owned.contains_key(partition)) {
            return;
        }
        let safe = self.members[member].owned.get(partition).and_then(|owned| owned.safe);
        let committed = self.committed.get(partition).copied().unwrap_or(0);
        self.n_given_up += 1;
        let given_up = GivenUp { from: safe.unwrap_or(0).max(committed), number: self.n_given_up };
        self.given_up.insert(partition.clone(), given_up);
        self.gave_up = true;
    }
}

fn list(partitions: &[TopicPartition]) -> String {
    partitions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
