//! The thread of a transactional producer: begins a transaction with the first record, ends it when the task says so, and
//! writes nothing any more after a fatal error.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use connect_sdk::{
    data::Text,
    source::{OffsetMap, PartitionMap},
    task::ports::TransactionEnd,
};
use rdkafka::error::RDKafkaErrorCode as Code;

use super::{Door, OffsetRecords, take_id};
use crate::{
    crash_point,
    kafka::{
        client_config::ClientConfig,
        error::{ErrorClass, KafkaError},
        ffi::{Producer, Queue, TransactionFailure},
        producer::{
            Mailbox, keyed_batch, lock,
            worker::{Round, Worker},
        },
    },
};

/// How long one call for a commit or an abort waits; it is resumed by the next.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);
/// How often an abort that the broker refuses is tried.
const ABORT_TRIES_MAX: u32 = 5;
/// Pause between two of these tries.
const ABORT_PAUSE: Duration = Duration::from_millis(100);
/// How long the transaction of a task that has gone, or has failed, is tried to be aborted.
const DROP_ABORT_MAX: Duration = Duration::from_secs(5);
/// The slot of the records that hold offsets; the task has the first one.
const OFFSETS_SLOT: usize = 1;

type Offsets = Vec<(PartitionMap, OffsetMap)>;

pub(super) struct TransactionThread {
    worker: Worker,
    door: Arc<Mutex<Door>>,
    offsets: Arc<dyn OffsetRecords>,
    offsets_topic: Text,
    /// Takes the acknowledgements of offset records, which nobody reads: a refused one fails the transaction.
    offsets_mailbox: Arc<Mutex<Mailbox>>,
    offsets_seq: u64,
    id: String,
    timeout: Duration,
    /// When the open transaction was begun.
    begun: Option<Instant>,
}

/// Why the thread leaves its loop.
enum Leave {
    /// The task has gone.
    Stop,
    Failed(KafkaError),
}

impl From<KafkaError> for Leave {
    fn from(error: KafkaError) -> Self {
        Self::Failed(error)
    }
}

/// How a transaction ended, as the task is told: an error asks for an abort.
type Ended = Result<(), KafkaError>;

impl TransactionThread {
    pub(super) fn new(
        worker: Worker,
        door: Arc<Mutex<Door>>,
        offsets: Arc<dyn OffsetRecords>,
        config: &ClientConfig,
    ) -> Self {
        Self {
            worker,
            door,
            offsets_topic: Text::from(offsets.topic().to_owned()),
            offsets,
            offsets_mailbox: Arc::default(),
            offsets_seq: 0,
            id: config.transactional_id().unwrap_or_default().to_owned(),
            timeout: config.transaction_timeout(),
            begun: None,
        }
    }

    pub(super) fn run(mut self) {
        let client = self.worker.client();
        let mut queue = client.main_queue();
        queue.wake(thread::current());
        let mut producer = Producer::new(Arc::clone(&client));
        self.worker.slots.open(OFFSETS_SLOT, Arc::clone(&self.offsets_mailbox));
        let lived = catch_unwind(AssertUnwindSafe(|| self.live(&queue, &mut producer)));
        let leave = match lived {
            Ok(Err(leave)) => leave,
            // A task that waits for a thread which is no more would wait for ever.
            Err(_) => Leave::Failed(KafkaError::new(ErrorClass::Fatal, "the producer's thread has panicked")),
        };
        if let Leave::Failed(error) = leave {
            let error = self.worded(error);
            self.worker.fail(&error);
            self.tell(|door| door.failed = Some(error));
        }
        if client.native().fatal_error().is_none() {
            // What cannot be aborted in time is aborted by the broker, or by the next producer with this id.
            drop(self.abort(&queue, Some(Instant::now() + DROP_ABORT_MAX)));
        }
        // The abort itself may have met the error.
        if client.native().fatal_error().is_some() {
            self.await_answers(&queue);
        }
        client.purge();
    }

    fn live(&mut self, queue: &Queue, producer: &mut Producer) -> Result<std::convert::Infallible, Leave> {
        while !lock(&self.door).wanted {
            self.worker.serve(queue)?;
            if self.worker.take_inbox() {
                return Err(Leave::Stop);
            }
            thread::park_timeout(self.worker.pause());
        }
        self.take_id(queue)?;
        self.tell(|door| door.started = true);
        let mut asked = None;
        loop {
            // In this order: what was handed over before the end was asked for is part of the transaction.
            asked = asked.or_else(|| lock(&self.door).asked.take());
            if self.worker.take_inbox() {
                return Err(Leave::Stop);
            }
            if matches!(asked, Some(TransactionEnd::Abort)) {
                asked = None;
                self.abort(queue, None)?;
                self.tell(|door| door.ended = Some(Ok(())));
            }
            let round = self.hand_over(producer)?;
            let served = self.worker.serve(queue)?;
            if round == Round::Progress || served {
                continue;
            }
            if round == Round::Nothing
                && let Some(TransactionEnd::Commit(offsets)) = asked.take()
            {
                let ended = self.commit(offsets, queue, producer)?;
                self.tell(|door| door.ended = Some(ended));
                continue;
            }
            thread::park_timeout(self.worker.pause());
        }
    }

    fn take_id(&mut self, queue: &Queue) -> Result<(), Leave> {
        let client = self.worker.client();
        let shared = self.worker.shared();
        let taken = take_id(&client, queue, &mut self.worker.events, |_| !shared.is_stopped())?;
        if taken { Ok(()) } else { Err(Leave::Stop) }
    }

    /// Changes what the task sees, and wakes it.
    fn tell(&self, change: impl FnOnce(&mut Door)) {
        let mut door = lock(&self.door);
        change(&mut door);
        let waker = door.waker.take();
        drop(door);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Hands one run of records over, and begins a transaction for it where none is open.
    fn hand_over(&mut self, producer: &mut Producer) -> Result<Round, KafkaError> {
        if self.begun.is_none() && self.worker.has_batches() {
            self.begin()?;
        }
        let before = self.worker.n_batches();
        let round = self.worker.hand_over(producer)?;
        if self.worker.n_batches() < before {
            crash_point::reached("after-produce");
        }
        Ok(round)
    }

    fn begin(&mut self) -> Result<(), KafkaError> {
        crash_point::reached("before-begin");
        // What is left from a transaction before says nothing about this one.
        self.worker.slots.forget_failure();
        self.worker.events.forget_transaction_error();
        self.worker.client().begin_transaction().map_err(|failure| coded(&failure, "a transaction cannot be begun"))?;
        self.begun = Some(Instant::now());
        Ok(())
    }

    /// Commits what was handed over together with `offsets`. An error in the answer asks for an abort.
    fn commit(&mut self, offsets: Offsets, queue: &Queue, producer: &mut Producer) -> Result<Ended, Leave> {
        if let Some(failure) = self.worker.slots.failure() {
            return Ok(Err(failure));
        }
        let has_offsets = !offsets.is_empty();
        if has_offsets {
            self.send_offsets(&offsets, queue, producer)?;
        }
        if self.begun.is_none() {
            return Ok(Ok(()));
        }
        self.drain(queue, None)?;
        if let Some(failure) = self.worker.slots.failure() {
            return Ok(Err(failure));
        }
        crash_point::reached("before-commit");
        while let Err(failure) = self.worker.client().commit_transaction(CALL_TIMEOUT) {
            let error = coded(&failure, "the transaction was not committed");
            if failure.fatal {
                return Err(error.into());
            }
            if failure.abortable {
                return Ok(Err(error));
            }
            if !failure.retriable {
                return Err(error.fatal().into());
            }
            let leave = self.try_again("commit has no answer yet", &failure, queue);
            if matches!(leave, Err(Leave::Stop)) {
                // Whether it is committed is not known here; it cannot be aborted any more.
                self.begun = None;
            }
            leave?;
        }
        crash_point::reached("after-commit");
        self.worker.events.alive();
        self.begun = None;
        if has_offsets {
            self.offsets.committed(offsets);
        }
        Ok(Ok(()))
    }

    /// Hands over the records that hold the offsets; they are drained together with the task's.
    fn send_offsets(&mut self, offsets: &Offsets, queue: &Queue, producer: &mut Producer) -> Result<(), Leave> {
        let records = self.offsets.records(offsets);
        let pairs = records.iter().map(|(key, value)| (key.as_slice(), Some(value.as_slice())));
        let batch = keyed_batch(&self.offsets_topic, self.offsets_seq, pairs);
        self.offsets_seq += records.len() as u64;
        if self.begun.is_none() {
            self.begin()?;
        }
        crash_point::reached("before-offsets");
        self.worker.push(OFFSETS_SLOT, batch);
        while self.worker.has_batches() {
            let round = self.worker.hand_over(producer)?;
            let served = self.worker.serve(queue)?;
            if round == Round::Full && !served {
                self.wait()?;
            }
        }
        if let Some(error) = lock(&self.offsets_mailbox).failed.take() {
            return Err(error.fatal().into());
        }
        crash_point::reached("after-offsets");
        Ok(())
    }

    /// Waits until every record is acknowledged or given up; false: not before `until`.
    fn drain(&mut self, queue: &Queue, until: Option<Instant>) -> Result<bool, Leave> {
        let client = self.worker.client();
        self.worker.hurry();
        loop {
            let served = self.worker.serve(queue)?;
            if client.n_in_flight() == 0 {
                break;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(false);
            }
            if !served {
                match until {
                    None => self.wait()?,
                    Some(_) => thread::park_timeout(self.worker.pause()),
                }
            }
        }
        let mut mailbox = lock(&self.offsets_mailbox);
        mailbox.acks.clear();
        mailbox.spent.clear();
        Ok(true)
    }

    /// Sleeps until something happens.
    fn wait(&mut self) -> Result<(), Leave> {
        if self.worker.take_inbox() {
            return Err(Leave::Stop);
        }
        thread::park_timeout(self.worker.pause());
        Ok(())
    }

    /// Says that a call is resumed, and serves what came meanwhile.
    fn try_again(&mut self, what: &str, failure: &TransactionFailure, queue: &Queue) -> Result<(), Leave> {
        self.worker.events.trying_again(what, &failure.text);
        self.worker.serve(queue)?;
        if self.worker.take_inbox() { Err(Leave::Stop) } else { Ok(()) }
    }

    /// Waits until the requests of a failed client are answered. librdkafka frees the text of a transaction's error while its
    /// threads still read answers, and once more when such an answer brings another fatal error: the memory of the whole
    /// process is damaged then.
    fn await_answers(&mut self, queue: &Queue) {
        let client = self.worker.client();
        client.purge_queued();
        let until = Instant::now() + DROP_ABORT_MAX;
        while client.n_in_flight() > 0 && Instant::now() < until {
            // That the client has failed is known.
            if matches!(self.worker.serve(queue), Ok(false)) {
                thread::park_timeout(ABORT_PAUSE);
            }
        }
    }

    /// Gives up the transaction that is open, with everything that waits; at `until` what is not done is left.
    fn abort(&mut self, queue: &Queue, until: Option<Instant>) -> Result<(), Leave> {
        self.worker.slots.silence(true);
        self.worker.discard();
        let aborted = if self.begun.is_some() { self.abort_open(queue, until) } else { Ok(()) };
        self.worker.slots.silence(false);
        aborted
    }

    fn abort_open(&mut self, queue: &Queue, until: Option<Instant>) -> Result<(), Leave> {
        let client = self.worker.client();
        let mut tries = 0;
        loop {
            // Records are delivered and not given up: where the first ones never reached a broker, it would know of no
            // transaction to abort, which librdkafka takes for a fatal error.
            if !self.drain(queue, until)? {
                return Ok(());
            }
            let left = until.map_or(CALL_TIMEOUT, |until| until.saturating_duration_since(Instant::now()));
            let Err(failure) = client.abort_transaction(left.min(CALL_TIMEOUT)) else { break };
            let error = coded(&failure, "the transaction was not aborted");
            if failure.fatal {
                return Err(error.into());
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(());
            }
            if !failure.retriable {
                tries += 1;
                if tries >= ABORT_TRIES_MAX {
                    return Err(error.fatal().into());
                }
            } else if until.is_none() {
                self.try_again("abort has no answer yet", &failure, queue)?;
                continue;
            }
            thread::park_timeout(ABORT_PAUSE);
        }
        self.worker.events.alive();
        self.begun = None;
        Ok(())
    }

    /// What a fatal error means for this transaction.
    fn worded(&self, error: KafkaError) -> KafkaError {
        let Self { id, timeout, .. } = self;
        let error = error.fatal();
        if error.code() == Some(Code::InvalidTransactionTimeout) {
            let text = format!(
                "`transaction.timeout.ms` of the producer is {} ms, which is more than the broker's \
                 `transaction.max.timeout.ms`: {error}",
                timeout.as_millis()
            );
            return KafkaError::new(ErrorClass::Fatal, text);
        }
        if error.class() != ErrorClass::Fenced {
            return KafkaError::new(ErrorClass::Fatal, format!("producer with transactional id `{id}`: {error}"));
        }
        let open = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        let text = if open > *timeout {
            format!(
                "the transaction of transactional id `{id}` has probably expired: it was open for {} ms, and \
                 `transaction.timeout.ms` is {} ms; a larger `producer.override.transaction.timeout.ms` or a shorter \
                 `transaction.boundary.interval.ms` helps: {error}",
                open.as_millis(),
                timeout.as_millis()
            )
        } else {
            format!(
                "another producer has taken the transactional id `{id}`: the same task runs elsewhere, and this one writes \
                 nothing any more: {error}"
            )
        };
        KafkaError::new(ErrorClass::Fenced, text)
    }
}

fn coded(failure: &TransactionFailure, what: &str) -> KafkaError {
    let error = KafkaError::coded(failure.code, what, &failure.text);
    if failure.fatal { error.fatal() } else { error }
}
