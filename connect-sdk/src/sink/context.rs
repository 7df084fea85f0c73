//! What a sink may ask for during a put, and why partitions close.

use super::record::{Position, SinkRecord, TopicPartition};
use crate::error::{Cause, Result, TaskError};
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
    /// Reports a record that cannot be written (KIP-610). With `errors.tolerance=all` it goes to the dead letter queue
    /// or the log, is counted, and the sink goes on without it.
    ///
    /// # Errors
    /// With `errors.tolerance=none` the fatal error comes back, so that `?` does the right thing in both modes.
    pub fn reject(&mut self, record: &SinkRecord, why: impl Into<Cause>) -> Result<()> {
        let (position, cause) = (record.position(), why.into());
        if self.tolerant {
            self.rejected.push(Rejected { position, cause });
            return Ok(());
        }
        Err(TaskError::fatal(RejectedRecord {
            topic: position.topic().to_owned(),
            partition: position.partition(),
            offset: position.offset(),
            cause,
        }))
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
