//! The consumer of a sink task in a world: the testkit's group, with the books kept and the process mortal.

use super::super::{journal::Journal, mortal::Mortal};
use super::ledger::Ledger;
use crate::{
    erased::BoxFuture,
    error::TaskError,
    sink::TopicPartition,
    task::{
        ports::{ConsumerEvent, RecordConsumer},
        sink_offsets::Positions,
    },
    testkit::MemoryGroup,
};
use std::{
    sync::Arc,
    task::{Context, Poll},
};

/// Who calls: one task, in one life of its process.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) name: Arc<str>,
    pub(super) member: usize,
    pub(super) life: Mortal,
    pub(super) journal: Journal,
    pub(super) ledger: Ledger,
}

impl Caller {
    pub(super) fn step(&self, text: &str) {
        self.journal.step(format!("{} {text}", self.name));
    }

    /// Notes a call, unless the process is dead.
    fn does(&self, text: impl FnOnce() -> String) -> bool {
        let lives = self.life.passes();
        if lives {
            self.step(&text());
        }
        lives
    }
}

pub(super) struct Consumer {
    pub(super) caller: Caller,
    pub(super) group: MemoryGroup,
    pub(super) inner: Box<dyn RecordConsumer>,
}

impl Consumer {
    fn hears(&self, event: &ConsumerEvent) {
        let Caller { member, ledger, .. } = &self.caller;
        match event {
            ConsumerEvent::Records(batch) => {
                self.caller.step(&format!("gets {} records", batch.records.len()));
            }
            ConsumerEvent::Assigned(partitions) => {
                self.caller.step(&format!("hears that it got{}", at(partitions)));
                ledger.assigned(*member, partitions);
            }
            ConsumerEvent::Revoked(partitions) => {
                self.caller.step(&format!("hears of the revocation of{}", names(partitions)));
                ledger.revoked(*member, partitions);
            }
            ConsumerEvent::Lost(partitions) => {
                self.caller.step(&format!("hears of the loss of{}", names(partitions)));
                ledger.lost(*member, partitions);
            }
            ConsumerEvent::Committed { number, result } => {
                let word = if result.is_ok() { "done" } else { "failed" };
                self.caller.step(&format!("hears that commit {number} is {word}"));
                ledger.answered(*member, *number);
            }
        }
    }

    /// What the group has now of partitions that were committed.
    fn look(&self, offsets: &Positions) {
        let stored = offsets.iter().filter_map(|(p, _)| Some((TopicPartition::clone(p), self.group.committed(p)?)));
        self.caller.ledger.committed(stored);
    }
}

impl RecordConsumer for Consumer {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<ConsumerEvent, TaskError>> {
        if self.caller.life.is_dead() {
            return Poll::Pending;
        }
        let polled = self.inner.poll_event(cx);
        if let Poll::Ready(Ok(event)) = &polled {
            self.hears(event);
            // What follows in the task is of no effect if it dies here.
            self.caller.life.passes();
        }
        polled
    }

    fn start(&mut self, from: Positions) {
        if self.caller.does(|| format!("starts{}", at(&from))) {
            self.inner.start(from);
        }
    }

    fn released(&mut self) {
        if self.caller.does(|| "gives up what was revoked".to_owned()) {
            self.caller.ledger.released(self.caller.member);
            self.inner.released();
        }
    }

    fn commit(&mut self, number: u64, offsets: Positions) {
        if self.caller.does(|| format!("sends commit {number}:{}", at(&offsets))) {
            self.caller.ledger.commits(self.caller.member, Some(number), &offsets);
            self.inner.commit(number, offsets.clone());
            self.look(&offsets);
        }
    }

    fn commit_now(&mut self, offsets: Positions) -> BoxFuture<'_, Result<(), TaskError>> {
        Box::pin(async move {
            self.caller.life.point().await;
            self.caller.step(&format!("commits{}", at(&offsets)));
            self.caller.ledger.commits(self.caller.member, None, &offsets);
            let result = self.inner.commit_now(offsets.clone()).await;
            self.look(&offsets);
            self.caller.life.point().await;
            result
        })
    }

    fn pause(&mut self, partitions: Vec<Arc<TopicPartition>>) {
        if self.caller.does(|| format!("pauses{}", names(&partitions))) {
            self.inner.pause(partitions);
        }
    }

    fn resume(&mut self, partitions: Vec<Arc<TopicPartition>>) {
        if self.caller.does(|| format!("resumes{}", names(&partitions))) {
            self.inner.resume(partitions);
        }
    }

    fn seek(&mut self, to: Positions) {
        if self.caller.does(|| format!("seeks{}", at(&to))) {
            self.inner.seek(to);
        }
    }

    fn close(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.caller.life.point().await;
            self.caller.step("leaves the group");
            self.inner.close().await;
        })
    }
}

fn at(positions: &[(Arc<TopicPartition>, i64)]) -> String {
    positions.iter().map(|(p, offset)| format!(" {p}={offset}")).collect()
}

fn names(partitions: &[Arc<TopicPartition>]) -> String {
    partitions.iter().map(|p| format!(" {p}")).collect()
}
