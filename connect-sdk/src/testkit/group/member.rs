//! `Member`: the consumer that a task holds, at the end of a group's strings.

use super::{Awaits, GroupCall, MemoryGroup, Positions, State, plain};
use crate::{
    erased::BoxFuture,
    error::TaskError,
    sink::TopicPartition,
    task::ports::{ConsumerEvent, RecordConsumer},
};
use std::{
    sync::Arc,
    task::{Context, Poll},
};

fn names(partitions: &[Arc<TopicPartition>]) -> Vec<TopicPartition> {
    partitions.iter().map(|p| TopicPartition::clone(p)).collect()
}

pub(super) struct Member {
    pub(super) group: MemoryGroup,
    pub(super) number: u64,
}

impl Member {
    /// Does something to the group, unless this member has been replaced.
    fn act(&self, f: impl FnOnce(&mut State)) {
        self.group.change(|state| {
            if state.member == self.number {
                f(state);
            }
        });
    }
}

impl RecordConsumer for Member {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<ConsumerEvent, TaskError>> {
        let mut state = self.group.state();
        if state.member == self.number {
            if let Some(error) = state.failure.take() {
                return Poll::Ready(Err(error));
            }
            // A group that waits for a reply still tells the results of commits.
            if let Some((number, result)) = state.results.pop_front() {
                return Poll::Ready(Ok(ConsumerEvent::Committed { number, result }));
            }
            if matches!(state.awaits, Awaits::Nothing)
                && let Some(event) = state.next_event()
            {
                return Poll::Ready(Ok(event));
            }
        }
        state.waker = Some(cx.waker().clone());
        let mut topics = state.topics();
        if !topics.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            topics.wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn start(&mut self, from: Positions) {
        self.act(|state| {
            state.called(&GroupCall::Start(plain(&from)));
            if !matches!(state.awaits, Awaits::Start) {
                state.violations.push("starts partitions that were not assigned just now".to_owned());
            }
            state.awaits = Awaits::Nothing;
            // As in Kafka's clients an assignment begins without pauses.
            state.paused.retain(|p| !from.iter().any(|(started, _)| started == p));
            state.reading.extend(from);
        });
    }

    fn released(&mut self) {
        self.act(|state| {
            state.called(&GroupCall::Released);
            match std::mem::take(&mut state.awaits) {
                Awaits::Release(gone) => {
                    state.reading.retain(|p, _| !gone.contains(p));
                    state.paused.retain(|p| !gone.contains(p));
                }
                other => {
                    state.awaits = other;
                    state.violations.push("releases partitions that were not revoked".to_owned());
                }
            }
        });
    }

    fn commit(&mut self, number: u64, offsets: Positions) {
        self.act(|state| {
            state.called(&GroupCall::Commit(plain(&offsets)));
            state.check_commit(&offsets);
            let result = state.store(&offsets);
            if state.commits_held {
                state.held.push((number, result));
            } else {
                state.results.push_back((number, result));
            }
        });
    }

    fn commit_now(&mut self, offsets: Positions) -> BoxFuture<'_, Result<(), TaskError>> {
        let mut result = Ok(());
        self.act(|state| {
            state.called(&GroupCall::CommitNow(plain(&offsets)));
            state.check_commit(&offsets);
            result = state.store(&offsets);
        });
        Box::pin(std::future::ready(result))
    }

    fn pause(&mut self, partitions: Vec<Arc<TopicPartition>>) {
        self.act(|state| {
            state.called(&GroupCall::Pause(names(&partitions)));
            state.paused.extend(partitions);
        });
    }

    fn resume(&mut self, partitions: Vec<Arc<TopicPartition>>) {
        self.act(|state| {
            state.called(&GroupCall::Resume(names(&partitions)));
            state.paused.retain(|p| !partitions.contains(p));
        });
    }

    fn seek(&mut self, to: Positions) {
        self.act(|state| {
            state.called(&GroupCall::Seek(plain(&to)));
            for (partition, offset) in to {
                if let Some(at) = state.reading.get_mut(&partition) {
                    *at = offset;
                }
            }
        });
    }

    fn close(&mut self) -> BoxFuture<'_, ()> {
        self.act(|state| {
            state.called(&GroupCall::Close);
            state.reading.clear();
            state.script.clear();
            state.awaits = Awaits::Nothing;
        });
        Box::pin(std::future::ready(()))
    }
}
