//! Commit hooks: told what is stored, built from the configuration alone, with no way back to the source.

use super::{
    Source,
    fields::{OffsetMap, PartitionMap},
    offset::{SourceOffset, SourcePartition},
};
use crate::{error::Result, task::OpenCx};
use std::{fmt, marker::PhantomData};

/// Cleans up in the source system after offsets were stored: confirms a replication slot, deletes read files.
///
/// Named by `on_commit = Type` in `#[source_connector]`. It lives beside the source and is built from the configuration
/// alone: nothing it learns can decide where the source resumes. A crash may lose a call, so it must be repeatable.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a commit hook",
    label = "`on_commit` names a type of its own that implements `CommitHook`, not the source"
)]
pub trait CommitHook: Sized + Send + 'static {
    /// The source whose offsets it is told.
    type Source: Source;

    /// Makes the hook when its task starts.
    ///
    /// # Errors
    /// Logged and tried again at the next commit; never fails the task.
    fn connect(cfg: &<Self::Source as Source>::Config, cx: &OpenCx) -> impl Future<Output = Result<Self>> + Send;

    /// Called after each time offsets were stored, with the newest offset of each partition that moved.
    ///
    /// # Errors
    /// Logged; never fails the task.
    fn committed(&mut self, done: Committed<'_, Self::Source>) -> impl Future<Output = Result<()>> + Send;
}

/// What was stored just now.
pub struct Committed<'a, S: Source> {
    pub(crate) positions: &'a [(S::Partition, S::Offset)],
}

impl<'a, S: Source> Committed<'a, S> {
    /// The newest stored offset of each partition that moved.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a S::Partition, &'a S::Offset)> + use<'a, S> {
        self.positions.iter().map(|(p, o)| (p, o))
    }

    pub(crate) fn decode(stored: &[(PartitionMap, OffsetMap)]) -> Result<Vec<(S::Partition, S::Offset)>> {
        stored.iter().map(|(p, o)| Ok((S::Partition::__decode(p)?, S::Offset::__decode(o)?))).collect()
    }
}

impl<S: Source> fmt::Debug for Committed<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Committed({} partitions)", self.positions.len())
    }
}

/// The hook of a source that has none.
#[derive(Debug)]
pub struct NoHook<S>(PhantomData<fn() -> S>);

impl<S: Source> CommitHook for NoHook<S> {
    type Source = S;

    async fn connect(_: &S::Config, _: &OpenCx) -> Result<Self> {
        Ok(Self(PhantomData))
    }

    async fn committed(&mut self, _: Committed<'_, S>) -> Result<()> {
        Ok(())
    }
}
