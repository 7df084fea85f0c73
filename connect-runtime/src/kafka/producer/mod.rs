//! Producers: one thread per client, shared by the tasks whose settings are equal. Whole batches go in, ranges of
//! acknowledged records come out; nothing is locked, allocated or woken per record.

mod fence;
mod room;
mod slots;
mod transactional;
mod worker;

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    task::{Context, Poll, Waker},
    thread::{self, Thread},
};

use connect_sdk::{
    data::Text,
    error::TaskError,
    task::ports::{Ack, ProduceBatch, ProduceRecord, RecordProducer, Slice},
};

use super::{
    client_config::ClientConfig,
    error::KafkaError,
    ffi::{Client, Role},
};
pub use fence::fence;
pub use transactional::{OffsetRecords, TransactionalTaskProducer};
use worker::Worker;

/// Batches of one task that wait for the producer's thread; the records themselves wait in the client's buffer.
const BATCHES_WAITING_MAX: usize = 2;
/// Spent buffers kept for one task.
const SPENT_BUFFERS_MAX: usize = 4;
/// A spent buffer with more room than this is freed: one huge record shall not cost its memory for ever.
const SPENT_BUFFER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The producers of a worker.
#[derive(Debug, Default)]
pub struct ProducerPool {
    producers: Mutex<HashMap<ClientConfig, Weak<Handle>>>,
}

impl ProducerPool {
    /// No producer yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A task's way into the producer with this configuration, which is started if no other task has it. It ends with
    /// its last task; records that are not acknowledged then are given up.
    ///
    /// Takes a few milliseconds where a producer is started; no broker is waited for.
    ///
    /// # Errors
    /// librdkafka refuses the configuration; the task fails.
    pub fn producer(&self, config: &ClientConfig) -> Result<TaskProducer, KafkaError> {
        let mut producers = lock(&self.producers);
        producers.retain(|_, handle| handle.strong_count() > 0);
        let running = producers.get(config).and_then(Weak::upgrade).filter(|handle| !handle.shared.has_failed());
        let handle = match running {
            Some(handle) => handle,
            None => {
                let handle = Arc::new(Handle { shared: start(config, Worker::run)? });
                producers.insert(config.clone(), Arc::downgrade(&handle));
                handle
            }
        };
        Ok(TaskProducer::new(handle))
    }
}

/// Starts a client with its thread, which does what `run` does.
fn start(config: &ClientConfig, run: impl FnOnce(Worker) + Send + 'static) -> Result<Arc<Shared>, KafkaError> {
    let client = Client::new(Role::Producer, &room::entries(config))
        .map_err(|error| KafkaError::native(&error, "cannot create a producer"))?;
    let shared = Arc::new(Shared::default());
    let worker = Worker::new(Arc::clone(&shared), client, config);
    let name = format!("producer {}", config.client_id());
    let thread = thread::Builder::new()
        .name(name)
        .spawn(move || run(worker))
        .map_err(|error| KafkaError::new(super::ErrorClass::Retriable, format!("cannot start a thread: {error}")))?;
    // The thread is not joined: it ends by itself once its handle is dropped, and holds nothing that others wait for.
    let _first = shared.thread.set(thread.thread().clone());
    Ok(shared)
}

/// A batch of records with a key, for partitions of the partitioner's choice; no value is a tombstone.
pub(super) fn keyed_batch<'a>(
    topic: &Text,
    first_seq: u64,
    records: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
) -> ProduceBatch {
    let mut batch = ProduceBatch { first_seq, topics: vec![topic.clone()], ..ProduceBatch::default() };
    let buffer = &mut batch.buffers[0];
    let mut append = |bytes: &[u8]| {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let slice = Slice { buffer: 0, start: place(buffer.len()), len: place(bytes.len()) };
        buffer.extend_from_slice(bytes);
        slice
    };
    batch.records = records
        .map(|(key, value)| ProduceRecord {
            topic: 0,
            partition: None,
            timestamp: None,
            key: Some(append(key)),
            value: value.map(&mut append),
            headers: (0, 0),
        })
        .collect();
    batch
}

/// Locks; a panic of another holder leaves nothing half done that matters here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the thread when the last task goes.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        lock(&self.shared.inbox).stop = true;
        self.shared.wake();
    }
}

/// What tasks and the thread share.
#[derive(Debug, Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    thread: OnceLock<Thread>,
}

#[derive(Debug, Default)]
struct Inbox {
    opened: Vec<(usize, Arc<Mutex<Mailbox>>)>,
    closed: Vec<usize>,
    batches: VecDeque<(usize, ProduceBatch)>,
    hurry: bool,
    stop: bool,
    failed: Option<KafkaError>,
    /// Numbers of slots: the next new one, and those that came back.
    next_slot: usize,
    free_slots: Vec<usize>,
}

impl Shared {
    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    fn is_stopped(&self) -> bool {
        lock(&self.inbox).stop
    }

    fn has_failed(&self) -> bool {
        lock(&self.inbox).failed.is_some()
    }
}

/// What the thread has for one task.
#[derive(Debug, Default)]
struct Mailbox {
    acks: Vec<Ack>,
    acks_waker: Option<Waker>,
    n_waiting: usize,
    room_waker: Option<Waker>,
    spent: Vec<Vec<u8>>,
    failed: Option<KafkaError>,
}

/// One task's way into a producer; see [`ProducerPool::producer`].
///
/// When it is dropped, acknowledgements that are still under way are ignored.
#[derive(Debug)]
pub struct TaskProducer {
    slot: usize,
    mailbox: Arc<Mutex<Mailbox>>,
    handle: Arc<Handle>,
}

impl TaskProducer {
    fn new(handle: Arc<Handle>) -> Self {
        let mailbox = Arc::new(Mutex::new(Mailbox::default()));
        let mut inbox = lock(&handle.shared.inbox);
        let slot = inbox.free_slots.pop().unwrap_or_else(|| {
            inbox.next_slot += 1;
            inbox.next_slot - 1
        });
        inbox.opened.push((slot, Arc::clone(&mailbox)));
        if let Some(failed) = &inbox.failed {
            lock(&mailbox).failed = Some(failed.clone());
        }
        drop(inbox);
        handle.shared.wake();
        Self { slot, mailbox, handle }
    }
}

impl Drop for TaskProducer {
    fn drop(&mut self) {
        lock(&self.handle.shared.inbox).closed.push(self.slot);
        self.handle.shared.wake();
    }
}

impl RecordProducer for TaskProducer {
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>> {
        let mut mailbox = lock(&self.mailbox);
        if let Some(failed) = &mailbox.failed {
            return Poll::Ready(Err(failed.clone().into()));
        }
        if mailbox.n_waiting >= BATCHES_WAITING_MAX {
            mailbox.room_waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let Some(batch) = batch.take() else { return Poll::Ready(Ok(())) };
        mailbox.n_waiting += 1;
        drop(mailbox);
        lock(&self.handle.shared.inbox).batches.push_back((self.slot, batch));
        self.handle.shared.wake();
        Poll::Ready(Ok(()))
    }

    fn poll_acks(&mut self, cx: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>> {
        let mut mailbox = lock(&self.mailbox);
        if !mailbox.acks.is_empty() {
            into.append(&mut mailbox.acks);
            return Poll::Ready(Ok(()));
        }
        if let Some(failed) = &mailbox.failed {
            return Poll::Ready(Err(failed.clone().into()));
        }
        match &mut mailbox.acks_waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn hurry(&mut self) {
        lock(&self.handle.shared.inbox).hurry = true;
        self.handle.shared.wake();
    }

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        lock(&self.mailbox).spent.pop()
    }
}
