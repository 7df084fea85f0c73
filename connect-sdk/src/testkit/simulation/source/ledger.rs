//! `Ledger`: what a source should have given, and what became of each record. It finds the broken promises.

use super::super::journal::Journal;
use crate::{
    source::{OffsetMap, PartitionMap},
    testkit::source::{Emitted, EmittedRecord},
};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The books of one run. Clones are the same.
#[derive(Clone)]
pub(super) struct Ledger {
    journal: Journal,
    state: Arc<Mutex<State>>,
    exactly_once: bool,
}

struct State {
    slots: Vec<Slot>,
    tasks: Vec<TaskBooks>,
}

/// One source partition.
struct Slot {
    partition: PartitionMap,
    /// What an undisturbed run gives, in order.
    expected: Arc<[EmittedRecord]>,
    /// Each offset that was emitted, with the number of records before it.
    known: Vec<(OffsetMap, usize)>,
    /// The records that a broker has acknowledged, by their number.
    acked: HashSet<usize>,
    /// So many records are below the stored offset.
    stored: usize,
    /// So many records were handed to a producer at least once.
    sent: usize,
    n_repeated: u64,
    /// So many records are in committed transactions.
    seen: usize,
}

/// One task, from its start to its end.
#[derive(Default)]
struct TaskBooks {
    /// For each of the task's slots, which one it is.
    slots: Vec<usize>,
    /// How many records each of its slots has given in this life of the source.
    at: Vec<usize>,
    /// The records of the last poll: slot and number.
    polled: Vec<(usize, usize)>,
    /// What stands behind each sequence number.
    sent: Vec<(usize, usize)>,
    /// Sent in the transaction that is open.
    open: Vec<(usize, usize)>,
    /// Another process has taken its place and it does not know.
    is_zombie: bool,
}

impl Ledger {
    pub(super) fn new(journal: Journal, slots: Vec<(PartitionMap, Arc<[EmittedRecord]>)>, exactly_once: bool) -> Self {
        let slots = slots.into_iter().map(|(partition, expected)| Slot {
            partition,
            expected,
            known: Vec::new(),
            acked: HashSet::new(),
            stored: 0,
            sent: 0,
            n_repeated: 0,
            seen: 0,
        });
        let state = State { slots: slots.collect(), tasks: Vec::new() };
        Self { journal, state: Arc::new(Mutex::new(state)), exactly_once }
    }

    /// A task begins with these slots. Returns its number in the books.
    pub(super) fn begins(&self, slots: &[usize]) -> usize {
        let mut state = self.lock();
        state.tasks.push(TaskBooks { slots: slots.to_vec(), at: vec![0; slots.len()], ..TaskBooks::default() });
        state.tasks.len() - 1
    }

    /// A life of a source is opened at these offsets.
    pub(super) fn opened(&self, task: usize, assigned: &[(PartitionMap, Option<OffsetMap>)]) {
        let mut state = self.lock();
        let State { slots, tasks } = &mut *state;
        let books = &mut tasks[task];
        books.polled.clear();
        for (local, (partition, offset)) in assigned.iter().enumerate() {
            let slot = &slots[books.slots[local]];
            match offset.as_ref().map(|offset| slot.records_before(offset)) {
                _ if books.is_zombie => {}
                None if slot.stored > 0 => self.journal.violated(format!(
                    "partition {partition} is opened at its start, although an offset is stored behind record {}",
                    slot.stored
                )),
                None => books.at[local] = 0,
                Some(None) => self.journal.violated(format!(
                    "partition {partition} is opened at {}, an offset that it has never emitted",
                    shown(offset.as_ref())
                )),
                Some(Some(n)) if n < slot.stored => self.journal.violated(format!(
                    "partition {partition} is opened behind record {n}, although an offset is stored behind record {}",
                    slot.stored
                )),
                Some(Some(n)) => books.at[local] = n,
            }
        }
    }

    /// What a poll gave.
    pub(super) fn polled(&self, task: usize, emitted: &[Emitted]) {
        let mut state = self.lock();
        let State { slots, tasks } = &mut *state;
        let books = &mut tasks[task];
        books.polled.clear();
        for entry in emitted {
            let Some(&number) = books.slots.get(entry.slot) else { continue };
            let (slot, at) = (&mut slots[number], &mut books.at[entry.slot]);
            if let Some(record) = &entry.record {
                match slot.expected.get(*at) {
                    Some(expected) if expected == record => {}
                    expected => self.journal.violated(format!(
                        "record {} of partition {} differs: expected {}; came {record}",
                        *at + 1,
                        slot.partition,
                        expected.map_or("nothing".to_owned(), ToString::to_string)
                    )),
                }
                books.polled.push((number, *at));
                *at += 1;
            }
            if let Some(offset) = &entry.offset {
                match slot.records_before(offset) {
                    None => slot.known.push((offset.clone(), *at)),
                    Some(n) if n == *at => {}
                    Some(n) => self.journal.violated(format!(
                        "the offset {offset} of partition {} stands behind record {n} and behind record {at}",
                        slot.partition
                    )),
                }
            }
        }
    }

    /// A producer has taken the batch of the last poll.
    pub(super) fn sent(&self, task: usize, first_seq: u64, n: usize) {
        let mut state = self.lock();
        let State { slots, tasks } = &mut *state;
        let books = &mut tasks[task];
        if usize::try_from(first_seq) != Ok(books.sent.len()) || n > books.polled.len() {
            self.journal.violated(format!(
                "a batch of {n} records with sequence number {first_seq} is sent, but {} were sent before and {} polled now",
                books.sent.len(),
                books.polled.len()
            ));
            return;
        }
        for (number, at) in books.polled.drain(..).take(n) {
            let slot = &mut slots[number];
            // What a transaction repeats is a matter of its commit.
            if at < slot.stored && !self.exactly_once {
                self.journal.violated(format!(
                    "record {} of partition {} is sent again, although an offset behind record {} is stored",
                    at + 1,
                    slot.partition,
                    slot.stored
                ));
            }
            slot.n_repeated += u64::from(at < slot.sent);
            slot.sent = slot.sent.max(at + 1);
            books.sent.push((number, at));
            books.open.push((number, at));
        }
    }

    /// A broker's answer to records.
    pub(super) fn resolved(&self, task: usize, first: u64, n: u32, delivered: bool) {
        let mut state = self.lock();
        let State { slots, tasks } = &mut *state;
        let books = &mut tasks[task];
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        for (number, at) in books.sent.iter().skip(first).take(n as usize).filter(|_| delivered) {
            slots[*number].acked.insert(*at);
        }
    }

    /// A store has taken offsets.
    pub(super) fn stored(&self, offsets: &[(PartitionMap, OffsetMap)]) {
        let mut state = self.lock();
        for (partition, offset) in offsets {
            let Some(slot) = state.slots.iter_mut().find(|slot| slot.partition == *partition) else {
                self.journal
                    .violated(format!("an offset of {partition} is stored, which is no partition of the source"));
                continue;
            };
            let Some(n) = slot.records_before(offset) else {
                self.journal.violated(format!("the offset {offset} of {partition} is stored, which was never emitted"));
                continue;
            };
            if n < slot.stored {
                self.journal.violated(format!(
                    "the stored offset of {partition} goes back, from behind record {} to behind record {n}",
                    slot.stored
                ));
            }
            if let Some(lost) = (0..n).find(|at| !slot.acked.contains(at)) {
                self.journal.violated(format!(
                    "the offset of {partition} behind record {n} is stored, but record {} is not acknowledged",
                    lost + 1
                ));
            }
            slot.stored = slot.stored.max(n);
        }
    }

    /// Another process is started in the place of a task that still runs.
    pub(super) fn is_replaced(&self, task: usize) {
        self.lock().tasks[task].is_zombie = true;
    }

    /// The open transaction of a task, if there was one, is gone.
    pub(super) fn aborted(&self, task: usize) {
        self.lock().tasks[task].open.clear();
    }

    /// A transaction has taken effect: what was sent in it is seen from now on, and these offsets are stored.
    pub(super) fn committed(&self, task: usize, offsets: &[(PartitionMap, OffsetMap)]) {
        let mut state = self.lock();
        let State { slots, tasks } = &mut *state;
        let books = &mut tasks[task];
        for (number, at) in books.open.drain(..) {
            let slot = &mut slots[number];
            if at != slot.seen {
                self.journal.violated(format!(
                    "record {} of partition {} is seen, but it is the turn of record {}",
                    at + 1,
                    slot.partition,
                    slot.seen + 1
                ));
            }
            slot.seen = at + 1;
        }
        for (partition, offset) in offsets {
            let slot = slots.iter_mut().find(|slot| slot.partition == *partition);
            match slot.and_then(|slot| slot.records_before(offset).map(|n| (slot, n))) {
                Some((slot, n)) => slot.stored = n,
                None => {
                    self.journal.violated(format!("the offset {offset} of {partition} is stored, which is unknown"))
                }
            }
        }
        if let Some(slot) = slots.iter().find(|slot| slot.stored != slot.seen) {
            self.journal.violated(format!(
                "{} records of partition {} are seen, but the offset behind record {} is stored",
                slot.seen, slot.partition, slot.stored
            ));
        }
    }

    /// A commit hook was told offsets.
    pub(super) fn told(&self, offsets: &[(PartitionMap, OffsetMap)]) {
        let state = self.lock();
        for (partition, offset) in offsets {
            let slot = state.slots.iter().find(|slot| slot.partition == *partition);
            if slot.is_none_or(|slot| slot.records_before(offset).is_none_or(|n| n > slot.stored)) {
                self.journal.violated(format!(
                    "the commit hook is told the offset {offset} of {partition}, which is not stored"
                ));
            }
        }
    }

    /// A record of a stopped task that was sent and is not stored.
    pub(super) fn unstored(&self, task: usize) -> Option<String> {
        let state = self.lock();
        let mut sent = state.tasks[task].sent.iter();
        let (number, at) = sent.find(|(number, at)| *at >= state.slots[*number].stored)?;
        Some(format!("record {} of partition {} will come again", at + 1, state.slots[*number].partition))
    }

    /// True if everything is stored.
    pub(super) fn is_complete(&self) -> bool {
        self.lock().slots.iter().all(|slot| slot.stored == slot.expected.len())
    }

    /// What is missing at the end, if anything is.
    pub(super) fn missing(&self) -> Option<String> {
        let state = self.lock();
        let slot = state.slots.iter().find(|slot| slot.stored < slot.expected.len())?;
        Some(format!(
            "of {} records of partition {} {} were sent and only {} are stored as done",
            slot.expected.len(),
            slot.partition,
            slot.sent,
            slot.stored
        ))
    }

    /// How many records were sent more than once.
    pub(super) fn n_repeated(&self) -> u64 {
        self.lock().slots.iter().map(|slot| slot.n_repeated).sum()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn records_before(&self, offset: &OffsetMap) -> Option<usize> {
        self.known.iter().rev().find(|(known, _)| known == offset).map(|(_, n)| *n)
    }
}

fn shown(offset: Option<&OffsetMap>) -> String {
    offset.map_or("its start".to_owned(), ToString::to_string)
}
