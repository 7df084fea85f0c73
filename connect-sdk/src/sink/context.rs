//! What a sink may ask for during a put, and why partitions close.

use super::record::{OriginalRecord, Position, SinkRecord, TopicPartition};
use crate::error::{Cause, Result, SharedCause, TaskError};
use std::{collections::BTreeMap, time::Duration};

/// Why partitions are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The group gives them to another member; a last commit was made.
    Revoked,
    /// They are already gone: no last commit was possible, another member may be working on them.
    Lost,
    /// The task stops; a last commit was made.
    Stopping,
}

/// Where to start reading, for targets that store offsets themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartOffsets {
    offsets: BTreeMap<TopicPartition, i64>,
}

impl StartOffsets {
    /// The committed offsets of the group decide.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads `partition` from `offset` on; only for partitions that were assigned just now.
    #[must_use]
    pub fn at(mut self, partition: &TopicPartition, offset: i64) -> Self {
        self.offsets.insert(partition.clone(), offset);
        self
    }

    /// All given offsets.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&TopicPartition, i64)> {
        self.offsets.iter().map(|(p, o)| (p, *o))
    }
}

/// What a sink can ask of the framework during a put. The requests take effect when the put has returned.
#[derive(Debug)]
pub struct PutCx {
    tolerant: bool,
    rejected: Vec<Rejected>,
    actions: Vec<PutAction>,
}

/// A record that the sink will not write, with the reason.
#[derive(Debug)]
pub struct Rejected {
    /// Where it stands.
    pub position: Position,
    /// Why.
    pub cause: Cause,
    /// Milliseconds since 1970, if the record has a timestamp.
    pub(crate) timestamp: Option<i64>,
    /// The record as it came from Kafka, if that was kept.
    pub(crate) original: Option<OriginalRecord>,
}

/// A request of a sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutAction {
    /// Deliver nothing of these partitions until they are resumed.
    Pause(Vec<TopicPartition>),
    /// Deliver them again.
    Resume(Vec<TopicPartition>),
    /// Commit soon.
    RequestCommit,
    /// Call put again after this time at the latest, with an empty batch if nothing came.
    WakeAfter(Duration),
}

impl PutCx {
    /// Reports a record that cannot be written (KIP-610), of this put or of one before. It goes to the dead letter queue,
    /// if there is one, as the bytes that came from Kafka, and to the log, if `errors.log.enable` is set. With
    /// `errors.tolerance=all` it is counted, and the sink goes on without it: the framework calls `pre_commit` only when
    /// the dead letter queue has it.
    ///
    /// # Errors
    /// With `errors.tolerance=none` the fatal error comes back, so that `?` does the right thing in both modes. The task
    /// fails even if the sink keeps that error to itself.
    pub fn reject(&mut self, record: &SinkRecord, why: impl Into<Cause>) -> Result<()> {
        let (position, cause) = (record.position(), SharedCause::new(why.into()));
        let (timestamp, original) = (record.timestamp(), record.original().cloned());
        let error = rejection(&position, &cause);
        self.rejected.push(Rejected { position, cause: Box::new(cause), timestamp, original });
        if self.tolerant { Ok(()) } else { Err(error) }
    }

    /// Pauses the delivery of assigned partitions, until [`Self::resume`] or until they are given up.
    pub fn pause(&mut self, partitions: impl IntoIterator<Item = TopicPartition>) {
        self.actions.push(PutAction::Pause(partitions.into_iter().collect()));
    }

    /// Resumes the delivery of paused partitions.
    pub fn resume(&mut self, partitions: impl IntoIterator<Item = TopicPartition>) {
        self.actions.push(PutAction::Resume(partitions.into_iter().collect()));
    }

    /// Asks for a commit before the next regular one.
    pub fn request_commit(&mut self) {
        self.actions.push(PutAction::RequestCommit);
    }

    /// Asks to be called again after `delay` at the latest, with an empty batch if nothing came meanwhile. For once only.
    pub fn wake_after(&mut self, delay: Duration) {
        self.actions.push(PutAction::WakeAfter(delay));
    }

    /// Made for each put by runtimes and by the testkit.
    #[doc(hidden)]
    #[must_use]
    pub fn new(tolerant: bool) -> Self {
        Self { tolerant, rejected: Vec::new(), actions: Vec::new() }
    }

    /// What was asked for during the put.
    #[doc(hidden)]
    #[must_use]
    pub fn into_requests(self) -> (Vec<Rejected>, Vec<PutAction>) {
        (self.rejected, self.actions)
    }
}

/// The error of a rejected record under `errors.tolerance=none`.
pub(crate) fn rejection(position: &Position, cause: &SharedCause) -> TaskError {
    TaskError::fatal(RejectedRecord {
        topic: position.topic().to_owned(),
        partition: position.partition(),
        offset: position.offset(),
        cause: Box::new(cause.clone()),
    })
}

/// A rejected record under `errors.tolerance=none`.
#[derive(Debug)]
struct RejectedRecord {
    topic: String,
    partition: i32,
    offset: i64,
    cause: Cause,
}

impl std::fmt::Display for RejectedRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "record at `{}-{}@{}` was rejected: {}", self.topic, self.partition, self.offset, self.cause)
    }
}

impl std::error::Error for RejectedRecord {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause.as_ref())
    }
}
