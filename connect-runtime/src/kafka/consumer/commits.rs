//! Commits that are under way, by number. One that fails is tried once more if that can help; one that fails because of
//! a single partition is taken apart, so that the others are not held back by it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use connect_sdk::{error::TaskError, sink::TopicPartition};
use rdkafka::error::RDKafkaErrorCode as Code;
use tokio::sync::oneshot;

use super::Positions;
use crate::{
    crash_point,
    kafka::{
        error::{ErrorClass, KafkaError, class_of},
        ffi::{Client, EventKind, Partitions, Queue},
    },
};

/// Who waits for a commit.
pub(super) enum Waits {
    /// The task's loop, for an event with this number.
    Event(u64),
    /// A call.
    Reply(oneshot::Sender<Result<(), TaskError>>),
    /// A commit that was taken apart.
    Whole(usize),
}

struct Commit {
    offsets: Positions,
    waits: Waits,
    may_try_again: bool,
}

/// A commit that was taken apart.
struct Whole {
    left: usize,
    result: Result<(), KafkaError>,
    waits: Waits,
}

/// The commits of one consumer.
pub(super) struct Commits {
    client: Arc<Client>,
    queue: Queue,
    next: usize,
    commits: HashMap<usize, Commit>,
    wholes: HashMap<usize, Whole>,
    /// A commit was refused because another consumer has the place of this one.
    pub(super) fenced: Option<KafkaError>,
    /// Events for the task.
    pub(super) ended: Vec<(u64, Result<(), TaskError>)>,
}

impl Commits {
    pub(super) fn new(client: Arc<Client>, queue: Queue) -> Self {
        Self {
            client,
            queue,
            next: 1,
            commits: HashMap::new(),
            wholes: HashMap::new(),
            fenced: None,
            ended: Vec::new(),
        }
    }

    /// Starts a commit. One in the background is tried once: the next regular one makes up for it, and a second try might
    /// come after the last commit of a partition and take its offset back.
    pub(super) fn start(&mut self, offsets: Positions, waits: Waits) {
        let may_try_again = matches!(waits, Waits::Reply(_));
        self.send(Commit { offsets, waits, may_try_again });
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn send(&mut self, commit: Commit) {
        if commit.offsets.is_empty() {
            self.end(commit.waits, Ok(()));
            return;
        }
        let mut partitions = Partitions::new();
        for (partition, offset) in &commit.offsets {
            partitions.add(&partition.topic, partition.partition, *offset);
        }
        let number = self.number();
        crash_point::reached("before-sink-commit");
        match self.client.commit(&partitions, &self.queue, number) {
            Ok(()) => drop(self.commits.insert(number, commit)),
            Err(code) => self.end(commit.waits, Err(failure(code, &commit.offsets))),
        }
    }

    /// Serves answers that have come; false if there was none.
    pub(super) fn serve(&mut self) -> bool {
        let mut served = false;
        while let Some(event) = self.queue.poll(Duration::ZERO) {
            served = true;
            if let EventKind::Committed { number, result } = event.kind()
                && let Some(commit) = self.commits.remove(&number)
            {
                self.answered(commit, result);
            }
        }
        served
    }

    /// Ends all commits that are under way: their answers will not come.
    pub(super) fn abandon(&mut self) {
        for (_, commit) in std::mem::take(&mut self.commits) {
            let gone = KafkaError::new(ErrorClass::Retriable, "the consumer has failed before the commit had a result");
            self.end(commit.waits, Err(gone));
        }
    }

    fn answered(&mut self, commit: Commit, result: Result<(), Code>) {
        if result == Err(Code::FencedInstanceId) {
            self.fenced = Some(KafkaError::coded(Code::FencedInstanceId, "offsets were not committed", ""));
        }
        match result {
            Ok(()) => {
                crash_point::reached("after-sink-commit");
                self.end(commit.waits, Ok(()));
            }
            Err(code) if commit.may_try_again && may_help(code) => {
                self.send(Commit { may_try_again: false, ..commit });
            }
            Err(code) if commit.offsets.len() > 1 && is_of_a_partition(code) => self.take_apart(commit),
            Err(code) => self.end(commit.waits, Err(failure(code, &commit.offsets))),
        }
    }

    fn take_apart(&mut self, commit: Commit) {
        let number = self.number();
        self.wholes.insert(number, Whole { left: commit.offsets.len(), result: Ok(()), waits: commit.waits });
        for offset in commit.offsets {
            let may_try_again = commit.may_try_again;
            self.send(Commit { offsets: vec![offset], waits: Waits::Whole(number), may_try_again });
        }
    }

    fn end(&mut self, waits: Waits, result: Result<(), KafkaError>) {
        match waits {
            Waits::Event(number) => self.ended.push((number, result.map_err(TaskError::from))),
            // Nobody may wait any more; the commit has its effect all the same.
            Waits::Reply(reply) => drop(reply.send(result.map_err(TaskError::from))),
            Waits::Whole(number) => {
                let Some(whole) = self.wholes.get_mut(&number) else { return };
                whole.left -= 1;
                if whole.result.is_ok() {
                    whole.result = result;
                }
                if whole.left == 0
                    && let Some(whole) = self.wholes.remove(&number)
                {
                    self.end(whole.waits, whole.result);
                }
            }
        }
    }
}

/// Whether the same commit may pass a moment later.
fn may_help(code: Code) -> bool {
    matches!(
        code,
        Code::BrokerDestroy
            | Code::BrokerTransportFailure
            | Code::WaitingForCoordinator
            | Code::NotCoordinator
            | Code::CoordinatorNotAvailable
            | Code::CoordinatorLoadInProgress
            | Code::RequestTimedOut
    )
}

/// Whether one partition of a list can be at fault; librdkafka gives its error to all of them.
fn is_of_a_partition(code: Code) -> bool {
    matches!(
        code,
        Code::UnknownTopicOrPartition
            | Code::TopicAuthorizationFailed
            | Code::OffsetMetadataTooLarge
            | Code::UnknownTopic
    )
}

fn failure(code: Code, offsets: &[(Arc<TopicPartition>, i64)]) -> KafkaError {
    let what = match offsets {
        [(partition, offset)] => format!("offset {offset} of `{partition}` was not committed"),
        several => format!("offsets of {} partitions were not committed", several.len()),
    };
    let why = match code {
        Code::UnknownMemberId | Code::IllegalGeneration | Code::StaleMemberEpoch => {
            "the group has given the partitions to another consumer"
        }
        _ => "",
    };
    let error = KafkaError::coded(code, &what, why);
    // A commit that fails loses nothing: what it covers is delivered again. Only a lack of rights does not pass.
    match class_of(code) {
        ErrorClass::Fatal if code != Code::GroupAuthorizationFailed => {
            KafkaError::new(ErrorClass::Retriable, error.to_string())
        }
        _ => error,
    }
}
