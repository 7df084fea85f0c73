//! `Batch`: where a source puts its records, each with the position after it.

use super::{
    Source,
    cursor::{Cursor, Epoch},
    offset::SourceOffset,
    raw::{BatchLimits, Mark, RecordBatch},
    record::Record,
};
use crate::error::TaskError;
use std::fmt;

/// The records of one poll. Lent by the framework to [`Source::poll`]; it cannot be made.
pub struct Batch<S: Source> {
    raw: RecordBatch,
    offsets: Vec<S::Offset>,
    acks: Vec<(u32, Ack)>,
    limits: BatchLimits,
    epoch: Epoch,
    n_slots: u32,
    fault: Option<TaskError>,
    equal_offsets: bool,
}

/// Called once the record is acknowledged.
pub(crate) type Ack = Box<dyn FnOnce() + Send>;

/// Everything a poll has left behind, taken out of a [`Batch`].
pub(crate) struct Taken<O> {
    pub(crate) raw: RecordBatch,
    pub(crate) offsets: Vec<O>,
    pub(crate) acks: Vec<(u32, Ack)>,
    pub(crate) equal_offsets: bool,
}

impl<S: Source> Batch<S> {
    /// Emits a record together with the position after it: where a new task would go on if this were the last record.
    ///
    /// The record is copied into the batch; the cursor keeps the offset.
    pub fn emit(&mut self, at: &mut Cursor<S::Partition, S::Offset>, record: Record<'_>, offset: S::Offset) {
        if !self.accepts(at, &offset, true) {
            return;
        }
        let kept = self.keep_offset(offset.__duplicate());
        if self.raw.push(at.slot, record, Some(kept)) {
            at.offset = Some(offset);
        } else {
            self.fail("a batch of records cannot exceed 2 GiB; return from `poll` when `out.is_full()`");
        }
    }

    /// Emits records that share one position: they are never split over two transactions, and the position is stored
    /// only when all of them are accepted.
    ///
    /// Without any record this is [`Self::advance`].
    pub fn emit_group<'r>(
        &mut self,
        at: &mut Cursor<S::Partition, S::Offset>,
        records: impl IntoIterator<Item = Record<'r>>,
        offset: S::Offset,
    ) {
        if !self.accepts(at, &offset, false) {
            return;
        }
        let mut records = records.into_iter().peekable();
        if records.peek().is_none() {
            return self.advance(at, offset);
        }
        let kept = self.keep_offset(offset.__duplicate());
        while let Some(record) = records.next() {
            let last = records.peek().is_none();
            if !self.raw.push(at.slot, record, last.then_some(kept)) {
                return self.fail("a batch of records cannot exceed 2 GiB; make smaller groups");
            }
        }
        at.offset = Some(offset);
    }

    /// Moves the position without a record, for input that gives none (filtered, empty windows; KIP-910).
    ///
    /// It takes its place in the order of the records: it is stored when everything before it is accepted.
    pub fn advance(&mut self, at: &mut Cursor<S::Partition, S::Offset>, offset: S::Offset) {
        if !self.accepts(at, &offset, false) {
            return;
        }
        let kept = self.keep_offset(offset.__duplicate());
        self.raw.push_advance(at.slot, Some(kept));
        at.offset = Some(offset);
    }

    /// True when `batch.max.records` or `batch.max.bytes` is reached: return from poll.
    ///
    /// It is true, too, once a cursor was misused: nothing more is taken then, and a loop that waits for it would not end.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.raw.len() >= self.limits.records || self.raw.n_bytes() >= self.limits.bytes || self.fault.is_some()
    }

    /// How many records (and advances) there are so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// True if nothing was emitted so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Ends the transaction after the record emitted last, in this poll or in an earlier one (with
    /// `transaction.boundary=connector`; otherwise it changes nothing).
    pub fn commit_transaction(&mut self)
    where
        S: DefinesTransactions,
    {
        self.mark(Mark::Commit);
    }

    /// Aborts the transaction after the record emitted last: its records are never seen, its offsets are stored.
    pub fn abort_transaction(&mut self)
    where
        S: DefinesTransactions,
    {
        self.mark(Mark::Abort);
    }

    /// As [`Self::emit`], and calls `ack` once the record is acknowledged (or was filtered on the way).
    ///
    /// Only for sources that are `exactly_once = unsupported`: an acknowledgement is lost when the worker dies.
    pub fn emit_acked(
        &mut self,
        at: &mut Cursor<S::Partition, S::Offset>,
        record: Record<'_>,
        offset: S::Offset,
        ack: impl FnOnce() + Send + 'static,
    ) where
        S: AtLeastOnce,
    {
        let before = self.raw.len();
        self.emit(at, record, offset);
        if self.raw.len() > before {
            self.acks.push((u32::try_from(before).unwrap_or(u32::MAX), Box::new(ack)));
        }
    }

    fn mark(&mut self, mark: Mark) {
        match self.raw.last_mark() {
            Some(m @ Mark::None) => *m = mark,
            Some(m) if *m == mark => {}
            Some(_) => self.fail("one record is marked both to commit and to abort its transaction"),
            // What it ends was emitted by earlier polls.
            None => {
                self.raw.push_advance(0, None);
                self.mark(mark);
            }
        }
    }

    /// Index of the offset that is kept next to the records. Never more than entries, so it fits.
    fn keep_offset(&mut self, offset: S::Offset) -> u32 {
        self.offsets.push(offset);
        u32::try_from(self.offsets.len() - 1).unwrap_or(u32::MAX)
    }

    /// False if the cursor or the offset cannot be accepted; the poll then fails.
    fn accepts(&mut self, at: &Cursor<S::Partition, S::Offset>, offset: &S::Offset, alone: bool) -> bool {
        if at.epoch != self.epoch || at.slot >= self.n_slots {
            self.fail(
                "a cursor of another task or of an earlier life of this task was used; keep cursors in the source itself",
            );
            return false;
        }
        if let Some(field) = offset.__not_finite() {
            self.fail(format!("`{field}` of the offset is NaN or infinite, which cannot be stored"));
            return false;
        }
        if alone && at.offset.as_ref().is_some_and(|before| before.__same(offset)) {
            self.equal_offsets = true;
        }
        true
    }

    fn fail(&mut self, why: impl Into<String>) {
        self.fault.get_or_insert_with(|| TaskError::fatal(why.into()));
    }

    pub(crate) fn new(epoch: Epoch, n_slots: usize, limits: BatchLimits) -> Self {
        Self {
            raw: RecordBatch::default(),
            offsets: Vec::new(),
            acks: Vec::new(),
            limits,
            epoch,
            n_slots: u32::try_from(n_slots).unwrap_or(u32::MAX),
            fault: None,
            equal_offsets: false,
        }
    }

    /// What the poll emitted; the batch is empty afterwards.
    ///
    /// # Errors
    /// The first misuse of a cursor or a mark during the poll.
    pub(crate) fn take(&mut self) -> Result<Taken<S::Offset>, TaskError> {
        // The next batch is probably as large as this one, but never needs more room at the start than its limit.
        let room = self.raw.len().min(self.limits.records);
        let taken = Taken {
            raw: std::mem::replace(&mut self.raw, RecordBatch::with_capacity(room)),
            offsets: std::mem::replace(&mut self.offsets, Vec::with_capacity(room)),
            acks: std::mem::take(&mut self.acks),
            equal_offsets: std::mem::take(&mut self.equal_offsets),
        };
        self.fault.take().map_or(Ok(taken), Err)
    }

    /// Gives a spent buffer back for the next poll.
    pub(crate) fn reuse_buffer(&mut self, buffer: Vec<u8>) {
        self.raw.reuse_buffer(buffer);
    }
}

impl<S: Source> fmt::Debug for Batch<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("len", &self.len()).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Sources that say where their transactions end; implemented by `#[source_connector(transaction_boundaries = connector)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` did not declare that it defines transaction boundaries",
    label = "add `transaction_boundaries = connector` to its `#[source_connector(..)]`"
)]
pub trait DefinesTransactions: Source {}

/// Sources that are `exactly_once = unsupported(..)`; implemented by `#[source_connector]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `exactly_once = supported`, so it cannot let an acknowledgement decide where it resumes",
    label = "use `emit`, or declare `exactly_once = unsupported(why = \"..\")`"
)]
pub trait AtLeastOnce: Source {}
