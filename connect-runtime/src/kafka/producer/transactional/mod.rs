//! Transactional producers (KIP-98): one client and one thread for each task of an exactly-once source. Records are handed
//! over as by every producer; the offsets of their source partitions go into the same transaction.

mod init;
mod thread;

#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use connect_sdk::{
    error::TaskError,
    source::{OffsetMap, PartitionMap},
    task::ports::{Ack, ProduceBatch, RecordProducer, TransactionEnd, TransactionError, TransactionalProducer},
};

use super::{Handle, TaskProducer, lock, start};
use crate::kafka::{
    client_config::ClientConfig,
    error::{ErrorClass, KafkaError},
};
pub(super) use init::take_id;
use thread::TransactionThread;

/// Where the offsets of an exactly-once source go, and in which form. Called on the producer's thread: no method blocks.
pub trait OffsetRecords: Send + Sync {
    /// The connector's offsets topic. It exists.
    fn topic(&self) -> &str;

    /// Keys and values of the records that hold these offsets; a key goes to the partition that Java's clients send it to.
    ///
    /// Called once for each transaction that has offsets, before its commit.
    fn records(&self, offsets: &[(PartitionMap, OffsetMap)]) -> Vec<(Vec<u8>, Vec<u8>)>;

    /// These offsets are committed. Called after each commit that has offsets, in the order of the commits.
    fn committed(&self, offsets: Vec<(PartitionMap, OffsetMap)>);
}

/// What task and thread tell each other about transactions.
#[derive(Debug, Default)]
struct Door {
    /// The task wants the transactional id.
    wanted: bool,
    /// The thread has it.
    started: bool,
    /// How the task wants the transaction to end; taken by the thread.
    asked: Option<TransactionEnd>,
    /// An end was asked for and is not answered.
    ending: bool,
    /// The answer; an error is one after which the transaction must be aborted.
    ended: Option<Result<(), KafkaError>>,
    /// Nothing is written any more.
    failed: Option<KafkaError>,
    waker: Option<Waker>,
}

/// A task's own producer of transactions.
///
/// When it is dropped, a transaction that is open is aborted in the background if a broker answers at once: readers of
/// committed records are then not held up until `transaction.timeout.ms` has passed.
#[derive(Debug)]
pub struct TransactionalTaskProducer {
    task: TaskProducer,
    door: Arc<Mutex<Door>>,
}

impl TransactionalTaskProducer {
    /// Starts a client with its thread. No broker is waited for, and no other producer is disturbed before
    /// [`TransactionalProducer::poll_start`]. Takes a few milliseconds.
    ///
    /// `config` is that of a transactional producer: see `ClientConfigBuilder::transactional`.
    ///
    /// # Errors
    /// The configuration has no transactional id, or librdkafka refuses it; the task fails.
    pub fn start(config: &ClientConfig, offsets: Arc<dyn OffsetRecords>) -> Result<Self, KafkaError> {
        if config.transactional_id().is_none() {
            let text = "a transactional producer needs a `transactional.id`";
            return Err(KafkaError::new(ErrorClass::Fatal, text));
        }
        let door = Arc::new(Mutex::new(Door::default()));
        let (inside, settings) = (Arc::clone(&door), config.clone());
        let shared = start(config, move |worker| TransactionThread::new(worker, inside, offsets, &settings).run())?;
        Ok(Self { task: TaskProducer::new(Arc::new(Handle { shared })), door })
    }
}

impl RecordProducer for TransactionalTaskProducer {
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>> {
        self.task.poll_send(cx, batch)
    }

    fn poll_acks(&mut self, cx: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>> {
        self.task.poll_acks(cx, into)
    }

    fn hurry(&mut self) {
        self.task.hurry();
    }

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        self.task.reclaim()
    }
}

impl TransactionalProducer for TransactionalTaskProducer {
    fn poll_start(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TaskError>> {
        let mut door = lock(&self.door);
        if let Some(failed) = &door.failed {
            return Poll::Ready(Err(failed.clone().into()));
        }
        if door.started {
            return Poll::Ready(Ok(()));
        }
        door.waker = Some(cx.waker().clone());
        let first = !std::mem::replace(&mut door.wanted, true);
        drop(door);
        if first {
            self.task.handle.shared.wake();
        }
        Poll::Pending
    }

    fn end(&mut self, how: TransactionEnd) {
        let mut door = lock(&self.door);
        door.asked = Some(how);
        door.ending = true;
        door.ended = None;
        drop(door);
        self.task.handle.shared.wake();
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransactionError>> {
        let mut door = lock(&self.door);
        if let Some(ended) = door.ended.take() {
            door.ending = false;
            return Poll::Ready(ended.map_err(|error| TransactionError::Abortable(error.into())));
        }
        if let Some(failed) = &door.failed {
            return Poll::Ready(Err(TransactionError::Fatal(failed.clone().into())));
        }
        if !door.ending {
            return Poll::Ready(Ok(()));
        }
        door.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}
