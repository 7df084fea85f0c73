//! Cursors: the only place where a source's position can be read, and the only way to emit.

use super::offset::{SourceOffset, SourcePartition};
use crate::{
    error::{Result, TaskError},
    task::TaskInfo,
};
use std::{fmt, sync::atomic::AtomicU64};

/// The position of one source partition. Made by the framework alone; moved by [`Batch::emit`](super::Batch::emit) alone.
pub struct Cursor<P, O> {
    pub(super) slot: u32,
    pub(super) epoch: Epoch,
    pub(super) partition: P,
    pub(super) offset: Option<O>,
}

impl<P, O> Cursor<P, O> {
    /// Which partition this is the position of.
    pub fn partition(&self) -> &P {
        &self.partition
    }

    /// The offset of the record emitted last, or the one the task was opened with; `None` at the very start.
    pub fn offset(&self) -> Option<&O> {
        self.offset.as_ref()
    }

    #[doc(hidden)]
    pub fn seek(&mut self, _: O)
    where
        Self: Movable,
    {
    }
}

/// Exists to explain why a cursor cannot be moved.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a cursor cannot be moved: its position is the offset of the record emitted last",
    label = "emit the record with its offset: `out.emit(&mut cursor, record, offset)`; to pass over input without a record: `out.advance(&mut cursor, offset)`"
)]
pub trait Movable {}

impl<P: fmt::Debug, O: fmt::Debug> fmt::Debug for Cursor<P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("partition", &self.partition).field("offset", &self.offset).finish()
    }
}

/// The cursors of one task, and what the task may know of itself.
pub struct Cursors<P, O> {
    cursors: Vec<Cursor<P, O>>,
    task: TaskInfo,
}

impl<P, O> Cursors<P, O> {
    /// The single cursor of a source that always has one partition.
    ///
    /// # Errors
    /// Fatal if there are none or several.
    pub fn only(self) -> Result<Cursor<P, O>> {
        let n = self.cursors.len();
        let mut all = self.cursors.into_iter();
        match (all.next(), n) {
            (Some(cursor), 1) => Ok(cursor),
            _ => Err(TaskError::fatal(format!(
                "`Cursors::only()` wants one source partition, but task {} has {n}; iterate over the cursors instead",
                self.task.index
            ))),
        }
    }

    /// How many partitions this task reads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cursors.len()
    }

    /// True if this task has nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cursors.is_empty()
    }

    /// The cursors without giving them up.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Cursor<P, O>> {
        self.cursors.iter()
    }

    /// Which task of which connector this is.
    #[must_use]
    pub fn task(&self) -> &TaskInfo {
        &self.task
    }
}

impl<P, O> IntoIterator for Cursors<P, O> {
    type Item = Cursor<P, O>;
    type IntoIter = std::vec::IntoIter<Cursor<P, O>>;
    fn into_iter(self) -> Self::IntoIter {
        self.cursors.into_iter()
    }
}

impl<P: fmt::Debug, O: fmt::Debug> fmt::Debug for Cursors<P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursors").field("cursors", &self.cursors).field("task", &self.task).finish()
    }
}

/// One life of a task. A cursor that outlives its task, in a static say, is found out by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

impl Epoch {
    /// A new life, different from every other in this process.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }
}

/// Makes the cursors of one life of a task; slot `i` is the `i`-th partition.
pub(crate) fn make_cursors<P: SourcePartition, O: SourceOffset>(
    epoch: Epoch,
    task: TaskInfo,
    assigned: impl IntoIterator<Item = (P, Option<O>)>,
) -> Cursors<P, O> {
    let cursors =
        (0..).zip(assigned).map(|(slot, (partition, offset))| Cursor { slot, epoch, partition, offset }).collect();
    Cursors { cursors, task }
}
