//! `pre_commit`: what is asked, and the only ways to answer.

use super::{
    context::CloseReason,
    record::{HasPosition, TopicPartition},
};
use std::{marker::PhantomData, sync::Arc};

/// Ties an answer to its question: a [`Safe`] cannot be kept for a later commit.
#[doc(hidden)]
pub type Brand<'c> = PhantomData<fn(&'c ()) -> &'c ()>;

/// A partition and the offset after the last record that was delivered of it.
type Offered = Vec<(Arc<TopicPartition>, i64)>;

/// The question of `pre_commit`: what of all that was delivered is safe in the target?
#[derive(Debug)]
pub enum PreCommit<'c> {
    /// A regular commit.
    Running(Running<'c>),
    /// The last commit of some partitions (KIP-275): write what you hold of them, or it will be redelivered.
    Closing(Closing<'c>),
}

/// A regular commit.
#[derive(Debug)]
#[must_use = "answer with `all()`, `except(&held)` or `none()`"]
pub struct Running<'c> {
    offered: Offered,
    brand: Brand<'c>,
}

/// The last commit of some partitions.
#[derive(Debug)]
#[must_use = "answer with `all_written()` or `redeliver(&held)`"]
pub struct Closing<'c> {
    offered: Offered,
    reason: CloseReason,
    brand: Brand<'c>,
}

/// What may be committed. Made only from the question it answers, and never beyond what was delivered.
#[derive(Debug)]
#[must_use = "return it from `pre_commit`"]
pub struct Safe<'c> {
    offsets: Offered,
    /// True if the sink said that it holds nothing.
    claims_all: bool,
    _brand: Brand<'c>,
}

impl<'c> Running<'c> {
    /// Everything that was delivered is written.
    pub fn all(self) -> Safe<'c> {
        Safe { offsets: self.offered, claims_all: true, _brand: self.brand }
    }

    /// Everything but these is written: in each partition the commit stays below the first of them.
    pub fn except<'h, P: HasPosition + 'h>(self, held: impl IntoIterator<Item = &'h P>) -> Safe<'c> {
        Safe { offsets: narrow(self.offered, held), claims_all: false, _brand: self.brand }
    }

    /// Nothing new is written: commit nothing this time.
    pub fn none(self) -> Safe<'c> {
        Safe { offsets: Vec::new(), claims_all: false, _brand: self.brand }
    }

    /// Exists to explain why a commit cannot be put forward.
    #[doc(hidden)]
    pub fn up_to(self, _: impl Sized, _: i64) -> Safe<'c>
    where
        Self: PutForward,
    {
        self.none()
    }
}

impl<'c> Closing<'c> {
    /// Everything that was delivered of the closing partitions is written.
    pub fn all_written(self) -> Safe<'c> {
        Safe { offsets: self.offered, claims_all: true, _brand: self.brand }
    }

    /// These are not written: they are delivered again to whoever gets the partition.
    pub fn redeliver<'h, P: HasPosition + 'h>(self, held: impl IntoIterator<Item = &'h P>) -> Safe<'c> {
        Safe { offsets: narrow(self.offered, held), claims_all: false, _brand: self.brand }
    }

    /// The partitions that are closing.
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = &TopicPartition> {
        self.offered.iter().map(|(p, _)| &**p)
    }

    /// Why: revoked or stopping, never lost.
    #[must_use]
    pub fn reason(&self) -> CloseReason {
        self.reason
    }

    #[doc(hidden)]
    pub fn all(self) -> Safe<'c>
    where
        Self: StillOpen,
    {
        self.all_written()
    }

    #[doc(hidden)]
    pub fn except(self, _: impl Sized) -> Safe<'c>
    where
        Self: StillOpen,
    {
        self.all_written()
    }

    #[doc(hidden)]
    pub fn up_to(self, _: impl Sized, _: i64) -> Safe<'c>
    where
        Self: PutForward,
    {
        self.all_written()
    }
}

impl<'c> PreCommit<'c> {
    #[doc(hidden)]
    pub fn all(self) -> Safe<'c>
    where
        Self: Decided,
    {
        unreachable_answer(self)
    }

    #[doc(hidden)]
    pub fn except(self, _: impl Sized) -> Safe<'c>
    where
        Self: Decided,
    {
        unreachable_answer(self)
    }

    #[doc(hidden)]
    pub fn none(self) -> Safe<'c>
    where
        Self: Decided,
    {
        unreachable_answer(self)
    }

    #[doc(hidden)]
    pub fn up_to(self, _: impl Sized, _: i64) -> Safe<'c>
    where
        Self: PutForward,
    {
        unreachable_answer(self)
    }
}

/// The answer of a method that no caller can reach, since its bound holds for no type: commit nothing.
fn unreachable_answer(at: PreCommit<'_>) -> Safe<'_> {
    match at {
        PreCommit::Running(r) => r.none(),
        PreCommit::Closing(c) => Safe { offsets: Vec::new(), claims_all: false, _brand: c.brand },
    }
}

/// Exists to explain why a closing commit is answered in its own words.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the partitions are closing: this is their last commit",
    label = "write what you hold and answer `all_written()`, or answer `redeliver(&held)`"
)]
pub trait StillOpen {}

/// Exists to explain why the question must be matched.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "say what happens while running and what happens on closing",
    label = "match on `PreCommit::Running(offsets)` and `PreCommit::Closing(offsets)` first"
)]
pub trait Decided {}

/// Exists to explain why offsets are never given as numbers.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a commit can only be held back, never put forward",
    label = "answer `all()`, or `except(&held)` with the records that are not written yet"
)]
pub trait PutForward {}

fn narrow<'h, P: HasPosition + 'h>(mut offered: Offered, held: impl IntoIterator<Item = &'h P>) -> Offered {
    for record in held {
        let (partition, offset) = record.place();
        if let Some((_, safe)) = offered.iter_mut().find(|(p, _)| **p == *partition) {
            *safe = (*safe).min(offset);
        }
    }
    offered
}

impl<'c> PreCommit<'c> {
    /// The question of a regular commit; asked by runtimes and by the testkit.
    #[doc(hidden)]
    #[must_use]
    pub fn running(offered: Vec<(Arc<TopicPartition>, i64)>) -> Self {
        Self::Running(Running { offered, brand: PhantomData })
    }

    /// The question of a last commit; asked by runtimes and by the testkit.
    #[doc(hidden)]
    #[must_use]
    pub fn closing(offered: Vec<(Arc<TopicPartition>, i64)>, reason: CloseReason) -> Self {
        Self::Closing(Closing { offered, reason, brand: PhantomData })
    }
}

impl Safe<'_> {
    /// The offsets that may be committed, and whether the sink claims to hold nothing.
    #[doc(hidden)]
    #[must_use]
    pub fn into_offsets(self) -> (Vec<(Arc<TopicPartition>, i64)>, bool) {
        (self.offsets, self.claims_all)
    }

    /// The offsets that may be committed; for the testkit, which looks on.
    #[cfg(feature = "testkit")]
    pub(crate) fn offsets(&self) -> &[(Arc<TopicPartition>, i64)] {
        &self.offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::{PartitionTag, SinkRecord, SinkRecordParts};

    fn record(tag: &Arc<PartitionTag>, offset: i64) -> SinkRecord {
        SinkRecord::from_parts(Arc::clone(tag), SinkRecordParts { offset, ..Default::default() })
    }

    #[test]
    fn an_answer_is_never_above_the_question_and_stops_below_the_first_held_record() {
        let a = Arc::new(TopicPartition::new("t", 0));
        let b = Arc::new(TopicPartition::new("t", 1));
        let tag = PartitionTag::new(Arc::clone(&a));
        let offered = || vec![(Arc::clone(&a), 7), (Arc::clone(&b), 3)];
        let held = [record(&tag, 6), record(&tag, 5)];
        let PreCommit::Running(running) = PreCommit::running(offered()) else { unreachable!() };
        assert_eq!(running.except(&held).into_offsets(), (vec![(Arc::clone(&a), 5), (Arc::clone(&b), 3)], false));
        // A record of later delivery, or of a partition that is not asked for, changes nothing.
        let foreign = PartitionTag::new(Arc::new(TopicPartition::new("u", 0)));
        let late = [record(&tag, 9), record(&foreign, 0)];
        let PreCommit::Closing(closing) = PreCommit::closing(offered(), CloseReason::Revoked) else { unreachable!() };
        assert_eq!(closing.redeliver(&late).into_offsets(), (offered(), false));
    }
}
