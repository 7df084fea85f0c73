//! Transactions of a [`MemoryKafka`](super::MemoryKafka): unseen until they are committed, fenced by the next producer with their id.

use super::{
    MemoryOffsets,
    kafka::{MemoryKafka, MemoryProducer, Produced},
};
use crate::{
    erased::BoxFuture,
    error::TaskError,
    task::ports::{Ack, Clock, ProduceBatch, RecordProducer, TransactionEnd, TransactionError, TransactionalProducer},
};
use std::{
    collections::HashMap,
    task::{Context, Poll},
    time::Duration,
};

/// What a broker knows of transactions.
#[derive(Debug, Default)]
pub(super) struct TransactionLog {
    ids: HashMap<String, Id>,
    pub(super) n_committed: u64,
}

#[derive(Debug, Default)]
struct Id {
    epoch: u64,
    open: Vec<Produced>,
    /// A record of the open transaction was refused.
    is_spoilt: bool,
}

impl TransactionLog {
    /// Fences whoever has the id and aborts what it has left open; answers the new epoch.
    pub(super) fn take_id(&mut self, id: &str) -> u64 {
        let entry = self.ids.entry(id.to_owned()).or_default();
        *entry = Id { epoch: entry.epoch + 1, ..Id::default() };
        entry.epoch
    }

    /// Fails if the id has gone to another producer.
    pub(super) fn check(&self, id: &str, epoch: u64) -> Result<(), TaskError> {
        if self.ids.get(id).is_some_and(|entry| entry.epoch == epoch) {
            return Ok(());
        }
        Err(TaskError::fatal(format!("fenced: another producer has the transactional id `{id}`")))
    }

    pub(super) fn add(&mut self, id: &str, record: Produced, refused: bool) {
        let entry = self.ids.entry(id.to_owned()).or_default();
        if refused {
            entry.is_spoilt = true;
        } else {
            entry.open.push(record);
        }
    }

    fn take_open(&mut self, id: &str) -> (Vec<Produced>, bool) {
        let entry = self.ids.entry(id.to_owned()).or_default();
        (std::mem::take(&mut entry.open), std::mem::take(&mut entry.is_spoilt))
    }
}

/// A transactional producer with its id.
pub(super) struct MemoryTransactions {
    producer: MemoryProducer,
    id: String,
    offsets: MemoryOffsets,
    ending: Option<Ending>,
}

struct Ending {
    how: TransactionEnd,
    /// When it takes effect, once everything before is acknowledged, and when the producer hears of it.
    times: Option<(Duration, Duration)>,
    result: Option<Result<(), TransactionError>>,
    sleep: Option<BoxFuture<'static, ()>>,
}

impl MemoryTransactions {
    pub(super) fn new(kafka: MemoryKafka, id: &str, offsets: MemoryOffsets) -> Self {
        Self { producer: MemoryProducer::new(kafka), id: id.to_owned(), offsets, ending: None }
    }

    /// Ends the transaction on the broker.
    fn take_effect(&mut self, how: TransactionEnd) -> Result<(), TransactionError> {
        let epoch = self.producer.transaction.as_ref().map_or(0, |(_, epoch)| *epoch);
        let kafka = self.producer.kafka.clone();
        let mut state = kafka.lock();
        state.transactions.check(&self.id, epoch).map_err(TransactionError::Fatal)?;
        let offsets = match how {
            TransactionEnd::Abort => {
                let _aborted = state.transactions.take_open(&self.id);
                self.producer.purge();
                return Ok(());
            }
            TransactionEnd::Commit(offsets) => offsets,
        };
        if std::mem::take(&mut state.plan.fatal_commit) {
            return Err(TransactionError::Fatal(TaskError::fatal("the transaction has expired")));
        }
        if state.plan.abortable_commits > 0 {
            state.plan.abortable_commits -= 1;
            return Err(TransactionError::Abortable(TaskError::retriable("the coordinator wants an abort")));
        }
        let (mut records, is_spoilt) = state.transactions.take_open(&self.id);
        if is_spoilt {
            return Err(TransactionError::Abortable(TaskError::fatal("a record of the transaction was refused")));
        }
        state.log.append(&mut records);
        state.transactions.n_committed += 1;
        for (partition, offset) in offsets {
            self.offsets.set(partition, offset);
        }
        Ok(())
    }
}

impl RecordProducer for MemoryTransactions {
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>> {
        assert!(self.ending.is_none(), "a batch was handed over while a transaction is being ended");
        assert!(self.producer.transaction.is_some(), "a batch was handed over before `poll_start`");
        self.producer.poll_send(cx, batch)
    }

    fn poll_acks(&mut self, cx: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>> {
        if self.producer.transaction.is_none() {
            return Poll::Pending;
        }
        self.producer.poll_acks(cx, into)
    }

    fn hurry(&mut self) {}

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        self.producer.reclaim()
    }
}

impl TransactionalProducer for MemoryTransactions {
    fn poll_start(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TaskError>> {
        assert!(self.producer.transaction.is_none(), "`poll_start` was called twice");
        let epoch = self.producer.kafka.lock().transactions.take_id(&self.id);
        self.producer.transaction = Some((self.id.clone(), epoch));
        Poll::Ready(Ok(()))
    }

    fn end(&mut self, how: TransactionEnd) {
        assert!(self.ending.is_none(), "a transaction is ended twice");
        self.ending = Some(Ending { how, times: None, result: None, sleep: None });
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransactionError>> {
        let Some(ending) = &mut self.ending else { return Poll::Ready(Ok(())) };
        let clock = self.producer.kafka.clock.clone();
        let now = clock.now();
        if ending.times.is_none() {
            // Acknowledgements come first; the caller asks for them in the same breath and is woken by them.
            if !self.producer.is_drained() && matches!(ending.how, TransactionEnd::Commit(_)) {
                return Poll::Pending;
            }
            let mut state = self.producer.kafka.lock();
            let (shortest, longest) = state.plan.commit_delay;
            let spread = usize::try_from(longest.saturating_sub(shortest).as_micros()).unwrap_or(usize::MAX);
            let micros = u64::try_from(state.random.below(spread.saturating_add(1))).unwrap_or(0);
            let delay = shortest + Duration::from_micros(micros);
            ending.times = Some((now + delay / 2, now + delay));
        }
        let (effect, answer) = ending.times.unwrap_or_default();
        if now >= effect && ending.result.is_none() {
            let how = ending.how.clone();
            let result = self.take_effect(how);
            if let Some(ending) = &mut self.ending {
                ending.result = Some(result);
                ending.sleep = None;
            }
        }
        let Some(ending) = &mut self.ending else { return Poll::Ready(Ok(())) };
        if now >= answer
            && let Some(result) = ending.result.take()
        {
            self.ending = None;
            return Poll::Ready(result);
        }
        let until = if ending.result.is_some() { answer } else { effect };
        let sleep = ending.sleep.get_or_insert_with(|| clock.sleep_until(until));
        if sleep.as_mut().poll(cx).is_ready() {
            ending.sleep = None;
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
