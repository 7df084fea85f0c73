//! The transactional producer of an exactly-once task in a world. What a process has asked for before it died may happen
//! afterwards.

use super::ports::Caller;
use crate::{
    error::TaskError,
    source::{OffsetMap, PartitionMap},
    task::ports::{Ack, ProduceBatch, RecordProducer, TransactionEnd, TransactionError, TransactionalProducer},
    testkit::{MemoryKafka, MemoryOffsets},
};
use std::{
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

/// Producers of dead processes, whose last request is on its way to the broker. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Ghosts(Arc<Mutex<Vec<Ghost>>>);

impl Ghosts {
    pub(super) fn take(&self) -> Vec<Ghost> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) struct Ghost {
    link: Link,
    acks: Vec<Ack>,
}

impl Ghost {
    /// Until the request has arrived, or is refused.
    pub(super) async fn haunt(mut self) {
        let result = poll_fn(|cx| {
            while matches!(self.link.inner.poll_acks(cx, &mut self.acks), Poll::Ready(Ok(()))) {}
            self.link.poll_end(cx)
        })
        .await;
        if result.is_ok() {
            self.link.caller.journal.saw("a transaction that is committed after the death of its task");
        }
    }
}

/// The way to the broker, which outlives its process.
struct Link {
    caller: Caller,
    kafka: MemoryKafka,
    inner: Box<dyn TransactionalProducer>,
    /// What is being committed.
    committing: Option<Vec<(PartitionMap, OffsetMap)>>,
}

impl Link {
    /// Notes a commit when it takes effect, which may be before anyone is told.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransactionError>> {
        let n_before = self.kafka.n_transactions();
        let polled = self.inner.poll_end(cx);
        if self.kafka.n_transactions() > n_before {
            let offsets = self.committing.take().unwrap_or_default();
            self.caller.step("has committed a transaction");
            self.caller.ledger.committed(self.caller.task, &offsets);
        }
        polled
    }
}

/// The producer of a task.
pub(super) struct Transactional {
    link: Option<Link>,
    caller: Caller,
    ghosts: Ghosts,
    /// A commit that is on its way when the process dies arrives all the same.
    arrives: bool,
}

impl Transactional {
    pub(super) fn new(
        caller: Caller,
        kafka: &MemoryKafka,
        offsets: &MemoryOffsets,
        id: &str,
        ghosts: Ghosts,
        arrives: bool,
    ) -> Self {
        let inner = kafka.transactional_producer(id, offsets);
        let link = Link { caller: caller.clone(), kafka: kafka.clone(), inner, committing: None };
        Self { link: Some(link), caller, ghosts, arrives }
    }

    fn link(&mut self) -> &mut Link {
        self.link.as_mut().expect("taken only when it is dropped")
    }
}

impl Drop for Transactional {
    fn drop(&mut self) {
        if let Some(link) = self.link.take()
            && self.arrives
            && self.caller.life.is_dead()
            && link.committing.is_some()
        {
            let ghost = Ghost { link, acks: Vec::new() };
            self.ghosts.0.lock().unwrap_or_else(PoisonError::into_inner).push(ghost);
        }
    }
}

impl RecordProducer for Transactional {
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>> {
        let sends = batch.as_ref().map(|b| (b.first_seq, b.records.len()));
        if !self.caller.life.passes() {
            return Poll::Pending;
        }
        let polled = self.link().inner.poll_send(cx, batch);
        if let Some((first_seq, n)) = sends.filter(|_| batch.is_none()) {
            self.caller.step(&format!("sends {n} records from sequence number {first_seq} on"));
            self.caller.ledger.sent(self.caller.task, first_seq, n);
            self.caller.life.passes();
        }
        polled
    }

    fn poll_acks(&mut self, cx: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>> {
        if self.caller.life.is_dead() {
            return Poll::Pending;
        }
        let n_before = into.len();
        let polled = self.link().inner.poll_acks(cx, into);
        for ack in &into[n_before..] {
            let (first, n, delivered) = match ack {
                Ack::Delivered { first, n } => (*first, *n, true),
                Ack::Failed { first, n, .. } => (*first, *n, false),
            };
            self.caller.ledger.resolved(self.caller.task, first, n, delivered);
        }
        polled
    }

    fn hurry(&mut self) {
        self.link().inner.hurry();
    }

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        self.link().inner.reclaim()
    }
}

impl TransactionalProducer for Transactional {
    fn poll_start(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TaskError>> {
        if !self.caller.life.passes() {
            return Poll::Pending;
        }
        let polled = self.link().inner.poll_start(cx);
        if polled.is_ready() {
            self.caller.step("takes its transactional id");
            self.caller.ledger.aborted(self.caller.task);
            self.caller.life.passes();
        }
        polled
    }

    fn end(&mut self, how: TransactionEnd) {
        if !self.caller.life.passes() {
            return;
        }
        match &how {
            TransactionEnd::Commit(offsets) => {
                let shown: String = offsets.iter().map(|(p, offset)| format!(" {p}={offset}")).collect();
                self.caller.step(&format!("commits its transaction with{shown}"));
                self.link().committing = Some(offsets.clone());
            }
            TransactionEnd::Abort => {
                self.caller.step("aborts its transaction");
                self.caller.ledger.aborted(self.caller.task);
                self.link().committing = None;
            }
        }
        self.link().inner.end(how);
        self.caller.life.passes();
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransactionError>> {
        if self.caller.life.is_dead() {
            return Poll::Pending;
        }
        let polled = self.link().poll_end(cx);
        if let Poll::Ready(result) = &polled {
            match result {
                Ok(()) => self.caller.step("hears that its transaction has ended"),
                Err(error) => self.caller.step(&format!("hears that its transaction has failed: {error:?}")),
            }
            self.caller.life.passes();
        }
        polled
    }
}
