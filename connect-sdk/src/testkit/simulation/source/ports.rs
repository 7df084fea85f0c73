//! The ports of a source task in a world: the testkit's fakes, with the books kept and the process mortal.

use super::super::{journal::Journal, mortal::Mortal};
use super::ledger::Ledger;
use crate::{
    erased::BoxFuture,
    error::TaskError,
    source::{OffsetMap, PartitionMap},
    task::ports::{Ack, OffsetStore, ProduceBatch, RecordProducer, TopicEnsurer, TopicLimits},
    testkit::{MemoryKafka, MemoryOffsets},
};
use std::{
    sync::Arc,
    task::{Context, Poll},
};

/// Who calls: one task, in one life of its process.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) name: Arc<str>,
    pub(super) task: usize,
    pub(super) life: Mortal,
    pub(super) journal: Journal,
    pub(super) ledger: Ledger,
}

impl Caller {
    pub(super) fn step(&self, text: &str) {
        self.journal.step(format!("{} {text}", self.name));
    }
}

pub(super) struct Producer {
    caller: Caller,
    inner: Box<dyn RecordProducer>,
}

impl Producer {
    pub(super) fn new(caller: Caller, kafka: &MemoryKafka) -> Self {
        Self { caller, inner: kafka.producer() }
    }
}

impl RecordProducer for Producer {
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>> {
        let Some((first_seq, n)) = batch.as_ref().map(|b| (b.first_seq, b.records.len())) else {
            return self.inner.poll_send(cx, batch);
        };
        if !self.caller.life.passes() {
            return Poll::Pending;
        }
        let polled = self.inner.poll_send(cx, batch);
        if batch.is_none() {
            self.caller.step(&format!("sends {n} records from sequence number {first_seq} on"));
            self.caller.ledger.sent(self.caller.task, first_seq, n);
            // What follows in the task is of no effect if it dies here.
            self.caller.life.passes();
        }
        polled
    }

    fn poll_acks(&mut self, cx: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>> {
        if self.caller.life.is_dead() {
            return Poll::Pending;
        }
        let n_before = into.len();
        let polled = self.inner.poll_acks(cx, into);
        for ack in &into[n_before..] {
            let (first, n, delivered) = match ack {
                Ack::Delivered { first, n } => (*first, *n, true),
                Ack::Failed { first, n, .. } => (*first, *n, false),
            };
            let word = if delivered { "acknowledged" } else { "refused" };
            self.caller.step(&format!("hears that {n} records from {first} on are {word}"));
            self.caller.ledger.resolved(self.caller.task, first, n, delivered);
        }
        polled
    }

    fn hurry(&mut self) {
        self.inner.hurry();
    }

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        self.inner.reclaim()
    }
}

pub(super) struct Topics {
    pub(super) caller: Caller,
    pub(super) kafka: MemoryKafka,
}

impl TopicEnsurer for Topics {
    fn ensure<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<TopicLimits, TaskError>> {
        Box::pin(async move {
            self.caller.life.point().await;
            let limits = self.kafka.ensure(topic).await;
            self.caller.life.point().await;
            limits
        })
    }
}

pub(super) struct Offsets {
    pub(super) caller: Caller,
    pub(super) store: MemoryOffsets,
    /// What is on its way into the store when the process dies arrives all the same.
    pub(super) arrives: bool,
}

impl OffsetStore for Offsets {
    fn load(&self, partitions: Vec<PartitionMap>) -> BoxFuture<'_, Result<Vec<Option<OffsetMap>>, TaskError>> {
        Box::pin(async move {
            self.caller.life.point().await;
            self.caller.step("loads its offsets");
            let loaded = self.store.load(partitions).await;
            self.caller.life.point().await;
            loaded
        })
    }

    fn store(&self, offsets: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<(), TaskError>> {
        Box::pin(async move {
            self.caller.life.point().await;
            let shown: String = offsets.iter().map(|(partition, offset)| format!(" {partition}={offset}")).collect();
            self.caller.step(&format!("stores{shown}"));
            let mut on_its_way = OnItsWay { offsets: self, entries: offsets.clone() };
            let result = self.store.store(offsets).await;
            let entries = std::mem::take(&mut on_its_way.entries);
            match &result {
                Ok(()) => {
                    self.caller.step("has stored them");
                    self.caller.ledger.stored(&entries);
                }
                Err(error) => self.caller.step(&format!("could not store them: {error}")),
            }
            self.caller.life.point().await;
            result
        })
    }
}

/// A call that may be cut off by the death of its process.
struct OnItsWay<'a> {
    offsets: &'a Offsets,
    entries: Vec<(PartitionMap, OffsetMap)>,
}

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        let Offsets { caller, store, arrives } = self.offsets;
        if !self.entries.is_empty() && *arrives && caller.life.is_dead() {
            caller.step("is dead, but what it stored arrives");
            caller.journal.saw("a store that arrives after the death of its task");
            self.entries.iter().for_each(|(partition, offset)| store.set(partition.clone(), offset.clone()));
            caller.ledger.stored(&self.entries);
        }
    }
}
