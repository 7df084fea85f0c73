//! Which records of a source task are under way, and how far each of its source partitions is accepted.
//!
//! Pure: no clock, no channel, no I/O. As Kafka's `SubmittedRecords`, but in batches: an offset can be stored once its
//! record and all earlier ones of its source partition are acknowledged; other source partitions do not matter to it.
//! Memory is bounded by what is under way: an acknowledged batch shrinks to one offset a source partition, even behind
//! one that is stuck.

mod bits;
mod runs;

use crate::source::{OffsetColumn, OffsetMap};
use bits::Bits;
use runs::NO_OFFSET;
pub(crate) use runs::Runs;
use std::{collections::VecDeque, fmt, sync::Arc};

/// Called once a record is acknowledged.
pub(crate) type OnAck = Box<dyn FnOnce() + Send>;

/// What is handed to the producer in one batch.
pub(crate) struct Submission {
    /// The entries in order, those without a record too.
    pub(crate) runs: Runs,
    /// Their offsets.
    pub(crate) offsets: Box<dyn OffsetColumn>,
    /// Whom to call when the entry at this index is acknowledged, in order of index.
    pub(crate) on_ack: Vec<(u32, OnAck)>,
    /// Bytes that the producer holds until the whole batch is acknowledged.
    pub(crate) bytes: usize,
}

/// What an acknowledgement has changed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// Records that were not acknowledged before.
    pub(crate) records: u64,
    /// Bytes of the batches that are whole now.
    pub(crate) bytes: u64,
}

/// The records under way of one task.
pub(crate) struct SubmittedRecords {
    /// In order of hand-over.
    items: VecDeque<Item>,
    /// Per slot: the newest accepted offset that was not taken yet and stands behind nothing.
    accepted: Vec<Option<Point>>,
    /// Per slot: the place of the newest offset that was taken. Offsets never go back.
    taken: Vec<Place>,
    next_seq: u64,
    next_batch: u64,
    n_records: usize,
    n_bytes: usize,
    n_unresolved: u64,
    scratch: Scratch,
}

/// Where an offset was emitted: the number of the batch, from 1, and the index within it.
type Place = (u64, u32);

#[derive(Default)]
struct Scratch {
    /// Per slot: the newest offset found by a scan.
    best: Vec<Option<Found>>,
    /// Per slot: an earlier record is not acknowledged.
    blocked: Vec<bool>,
    /// The slots of `best`.
    touched: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Found {
    place: Place,
    /// Which item holds it; `None` is `accepted`.
    item: Option<usize>,
    /// Index into the item's offsets (open) or points (done).
    index: u32,
}

/// The newest offset of a slot in a batch that is acknowledged.
#[derive(Clone)]
struct Point {
    slot: u32,
    place: Place,
    offsets: Arc<dyn OffsetColumn>,
    index: u32,
}

enum Item {
    Open(Box<OpenBatch>),
    /// One or more neighbouring batches, wholly acknowledged, behind one that is not.
    Done {
        first_seq: u64,
        points: Vec<Point>,
    },
}

struct OpenBatch {
    number: u64,
    first_seq: u64,
    n: u32,
    runs: Runs,
    offsets: Box<dyn OffsetColumn>,
    acked: Bits,
    /// Refused for ever: no longer awaited, never accepted.
    failed: Bits,
    bytes: usize,
    /// By sequence number within the batch.
    on_ack: Vec<(u32, Option<OnAck>)>,
}

impl Item {
    fn first_seq(&self) -> u64 {
        match self {
            Self::Open(open) => open.first_seq,
            Self::Done { first_seq, .. } => *first_seq,
        }
    }
}

impl SubmittedRecords {
    /// Nothing under way of a task with `n_slots` source partitions.
    pub(crate) fn new(n_slots: usize) -> Self {
        Self {
            items: VecDeque::new(),
            accepted: vec![None; n_slots],
            taken: vec![(0, 0); n_slots],
            next_seq: 0,
            next_batch: 1,
            n_records: 0,
            n_bytes: 0,
            n_unresolved: 0,
            scratch: Scratch { best: vec![None; n_slots], blocked: vec![false; n_slots], touched: Vec::new() },
        }
    }

    /// The sequence number of the next record.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Records of batches that are not wholly acknowledged: what `inflight.max.records` limits.
    pub(crate) fn n_records(&self) -> usize {
        self.n_records
    }

    /// Bytes of batches that are not wholly acknowledged: what `inflight.max.bytes` limits.
    pub(crate) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Records that are neither acknowledged nor refused.
    pub(crate) fn n_unresolved(&self) -> u64 {
        self.n_unresolved
    }

    /// Notes a batch that the producer has taken; its records have the next sequence numbers.
    ///
    /// Callbacks of entries without a record are due at once and go to `due`.
    pub(crate) fn submit(&mut self, batch: Submission, due: &mut Vec<OnAck>) {
        let Submission { runs, offsets, on_ack, bytes } = batch;
        let n = runs.n_sent();
        let on_ack = runs.by_sequence(on_ack, due);
        let (number, first_seq) = (self.next_batch, self.next_seq);
        self.next_batch += 1;
        self.next_seq += u64::from(n);
        self.n_records += n as usize;
        self.n_bytes += bytes;
        self.n_unresolved += u64::from(n);
        let (acked, failed) = (Bits::default(), Bits::default());
        let open = OpenBatch { number, first_seq, n, runs, offsets, acked, failed, bytes, on_ack };
        self.items.push_back(Item::Open(Box::new(open)));
        if n == 0 {
            self.finish(self.items.len() - 1);
        }
    }

    /// Notes that the broker has `n` records from `first` on. What is not under way (any more) is passed over.
    ///
    /// Callbacks that are due go to `due`.
    pub(crate) fn acked(&mut self, first: u64, n: u32, due: &mut Vec<OnAck>) -> Resolved {
        let mut resolved = Resolved::default();
        let end = first.saturating_add(u64::from(n));
        let mut at = self.first_item_at(first);
        while let Some(item) = self.items.get_mut(at) {
            let Item::Open(open) = item else {
                at += 1;
                continue;
            };
            if open.first_seq >= end {
                break;
            }
            let (from, to) = open.clip(first, end);
            let newly = open.acked.set(from, to, open.n);
            resolved.records += u64::from(newly);
            // What was refused was no longer awaited.
            self.n_unresolved -= u64::from(newly - open.failed.clear(from, to));
            open.take_callbacks(from, to, due);
            if open.acked.count() == open.n {
                resolved.bytes += open.bytes as u64;
                // Neighbours may have been joined: look again from the first one that can hold what is left.
                at = self.finish(at);
            } else {
                at += 1;
            }
        }
        resolved
    }

    /// Notes that `n` records from `first` on will never be accepted: they hold back their source partitions for ever.
    pub(crate) fn failed(&mut self, first: u64, n: u32) {
        let end = first.saturating_add(u64::from(n));
        let at = self.first_item_at(first);
        for item in self.items.range_mut(at.min(self.items.len())..) {
            let Item::Open(open) = item else { continue };
            if open.first_seq >= end {
                break;
            }
            let (from, to) = open.clip(first, end);
            for i in from..to {
                if !open.acked.get(i) {
                    self.n_unresolved -= u64::from(open.failed.set(i, i + 1, open.n));
                }
            }
        }
    }

    /// Appends, for each slot that has moved since the last call, its number and its newest storable offset.
    pub(crate) fn take(&mut self, into: &mut Vec<(u32, OffsetMap)>) {
        self.take_newest(false, into);
    }

    /// As [`Self::take`], of all that was handed over: for transactions, in which all is accepted or nothing.
    pub(crate) fn take_submitted(&mut self, into: &mut Vec<(u32, OffsetMap)>) {
        self.take_newest(true, into);
    }

    fn take_newest(&mut self, unacknowledged_too: bool, into: &mut Vec<(u32, OffsetMap)>) {
        let Self { items, accepted, scratch, .. } = self;
        for point in accepted.iter().flatten() {
            scratch.find(point.slot, Found { place: point.place, item: None, index: 0 });
        }
        let mut n_blocked = 0;
        for (i, item) in items.iter().enumerate() {
            // Nothing behind the first unacknowledged record of every slot can be stored.
            if n_blocked == scratch.blocked.len() {
                break;
            }
            match item {
                Item::Open(open) => n_blocked += open.scan(i, unacknowledged_too, scratch),
                Item::Done { points, .. } => {
                    for (index, point) in (0..).zip(points) {
                        if !scratch.blocked[point.slot as usize] {
                            scratch.find(point.slot, Found { place: point.place, item: Some(i), index });
                        }
                    }
                }
            }
        }
        let touched = std::mem::take(&mut self.scratch.touched);
        for &slot in &touched {
            let found = self.scratch.best[slot as usize].take();
            let Some(found) = found.filter(|f| f.place > self.taken[slot as usize]) else { continue };
            self.taken[slot as usize] = found.place;
            let offset = match found.item.map(|i| &self.items[i]) {
                Some(Item::Open(open)) => open.offsets.encode(found.index),
                Some(Item::Done { points, .. }) => points[found.index as usize].encode(),
                None => self.accepted[slot as usize].as_ref().expect("found there just now").encode(),
            };
            into.push((slot, offset));
        }
        self.scratch.touched = touched;
        self.scratch.touched.clear();
        self.scratch.blocked.fill(false);
        self.accepted.fill(None);
    }

    /// Forgets the offsets of everything under way: its source is gone and a new one repeats it from the accepted
    /// offsets. The records still count against the limits until they are resolved.
    pub(crate) fn abandon(&mut self) {
        self.accepted.fill(None);
        for item in &mut self.items {
            match item {
                Item::Open(open) => {
                    open.runs = Runs::default();
                    open.on_ack = Vec::new();
                    open.offsets = Box::new(NoOffsets);
                }
                Item::Done { points, .. } => points.clear(),
            }
        }
    }

    /// Forgets everything under way: an aborted transaction has taken it back, and its records are waited for no longer.
    pub(crate) fn forget(&mut self) {
        self.items.clear();
        self.accepted.fill(None);
        self.n_records = 0;
        self.n_bytes = 0;
        self.n_unresolved = 0;
    }

    /// The item in which the record with this number may be.
    fn first_item_at(&self, seq: u64) -> usize {
        self.items.partition_point(|item| item.first_seq() <= seq).saturating_sub(1)
    }

    /// Shrinks a wholly acknowledged batch to its newest offsets; answers where the next item is now.
    fn finish(&mut self, at: usize) -> usize {
        let Item::Open(open) = &self.items[at] else { return at + 1 };
        self.n_records -= open.n as usize;
        self.n_bytes -= open.bytes;
        let points = open.points(&mut self.scratch);
        self.items[at] = Item::Done { first_seq: open.first_seq, points };
        if at == 0 {
            while let Some(Item::Done { .. }) = self.items.front() {
                if let Some(Item::Done { points, .. }) = self.items.pop_front() {
                    for point in points {
                        let slot = point.slot as usize;
                        self.accepted[slot] = Some(point);
                    }
                }
            }
            return 0;
        }
        self.join_with_next(at);
        if self.join_with_next(at - 1) { at } else { at + 1 }
    }

    /// Makes one item of two acknowledged neighbours.
    fn join_with_next(&mut self, at: usize) -> bool {
        if !matches!((&self.items[at], self.items.get(at + 1)), (Item::Done { .. }, Some(Item::Done { .. }))) {
            return false;
        }
        if let Some(Item::Done { points: newer, .. }) = self.items.remove(at + 1)
            && let Item::Done { points, .. } = &mut self.items[at]
        {
            // Both are in order of slot; of equal slots the newer one wins.
            let mut older = std::mem::take(points).into_iter().peekable();
            points.reserve(newer.len());
            for point in newer {
                while let Some(before) = older.next_if(|o| o.slot < point.slot) {
                    points.push(before);
                }
                drop(older.next_if(|o| o.slot == point.slot));
                points.push(point);
            }
            points.extend(older);
        }
        true
    }
}

impl fmt::Debug for SubmittedRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmittedRecords")
            .field("items", &self.items.len())
            .field("records", &self.n_records)
            .field("bytes", &self.n_bytes)
            .field("unresolved", &self.n_unresolved)
            .finish_non_exhaustive()
    }
}

impl Point {
    fn encode(&self) -> OffsetMap {
        self.offsets.encode(self.index)
    }
}

impl Scratch {
    fn find(&mut self, slot: u32, found: Found) {
        let best = &mut self.best[slot as usize];
        if best.is_none() {
            self.touched.push(slot);
        }
        // Later finds are later in order: scans go from old to new.
        *best = Some(found);
    }
}

impl OpenBatch {
    /// The part of this batch in the range of sequence numbers from `first` to before `end`.
    fn clip(&self, first: u64, end: u64) -> (u32, u32) {
        let within = |seq: u64| u32::try_from(seq.saturating_sub(self.first_seq)).unwrap_or(u32::MAX).min(self.n);
        (within(first), within(end))
    }

    fn take_callbacks(&mut self, from: u32, to: u32, due: &mut Vec<OnAck>) {
        if self.on_ack.is_empty() {
            return;
        }
        let start = self.on_ack.partition_point(|(seq, _)| *seq < from);
        due.extend(self.on_ack[start..].iter_mut().take_while(|(seq, _)| *seq < to).filter_map(|(_, f)| f.take()));
    }

    /// Finds the newest storable offset of each slot; answers how many slots are blocked by this batch.
    fn scan(&self, item: usize, unacknowledged_too: bool, scratch: &mut Scratch) -> usize {
        let mut n_blocked = 0;
        let mut seq = 0;
        for run in self.runs.iter() {
            let start = seq;
            if run.sent {
                seq += run.n;
            }
            if scratch.blocked[run.slot as usize] {
                continue;
            }
            let all = unacknowledged_too || !run.sent;
            let accepted = if all { run.n } else { self.acked.leading(start, run.n) };
            if accepted > 0 && run.offset != NO_OFFSET {
                let index = run.offset + accepted - 1;
                scratch.find(run.slot, Found { place: (self.number, index), item: Some(item), index });
            }
            if accepted < run.n {
                scratch.blocked[run.slot as usize] = true;
                n_blocked += 1;
            }
        }
        n_blocked
    }

    /// The newest offset of each slot, copied out of the batch, in order of slot.
    fn points(&self, scratch: &mut Scratch) -> Vec<Point> {
        for run in self.runs.iter().filter(|run| run.offset != NO_OFFSET) {
            let index = run.offset + run.n - 1;
            scratch.find(run.slot, Found { place: (self.number, index), item: None, index });
        }
        scratch.touched.sort_unstable();
        let found: Vec<_> = scratch
            .touched
            .drain(..)
            .map(|slot| (slot, scratch.best[slot as usize].take().expect("touched slots were found")))
            .collect();
        let offsets = self.offsets.keep(&found.iter().map(|(_, f)| f.index).collect::<Vec<_>>());
        (0..)
            .zip(found)
            .map(|(index, (slot, f))| Point { slot, place: f.place, offsets: offsets.clone(), index })
            .collect()
    }
}

/// The column of a batch whose offsets do not matter any more.
struct NoOffsets;

impl OffsetColumn for NoOffsets {
    fn encode(&self, _: u32) -> OffsetMap {
        OffsetMap::new()
    }

    fn keep(&self, _: &[u32]) -> Arc<dyn OffsetColumn> {
        Arc::new(Self)
    }

    fn len(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests;
