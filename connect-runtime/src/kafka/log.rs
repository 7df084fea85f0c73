//! A topic that is read from its beginning and followed: the base of stores that keep their state in a compacted topic.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    thread::{self, Thread},
    time::Duration,
};

use connect_sdk::{
    data::Text,
    error::TaskError,
    sink::TopicPartition,
    task::ports::{Ack, ConsumedBatch, RecordProducer},
};
use rdkafka::error::RDKafkaErrorCode as Code;
use tokio::sync::oneshot;

use super::{
    admin::KafkaAdmin,
    client_config::ClientConfig,
    client_events::ClientEvents,
    consumer::BatchReader,
    error::{ErrorClass, KafkaError, class_of},
    ffi::{Client, EventKind, OFFSET_INVALID, Partitions, Queue, Role, Topic},
    producer::{ProducerPool, TaskProducer, keyed_batch},
};

/// The thread looks around at least this often; whatever happens wakes it.
const IDLE_MAX: Duration = Duration::from_secs(1);
/// The same while somebody waits for the end: markers of transactions move the position without a record.
const IDLE_WAITING: Duration = Duration::from_millis(10);
/// Records of one round.
const ROUND_RECORDS_MAX: usize = 4000;
const OFFSET_BEGINNING: i64 = -2;

/// A record of the log; it lives for the call that it is given to.
#[derive(Debug, Clone, Copy)]
pub struct LogRecord<'a> {
    /// Its partition.
    pub partition: i32,
    /// Its offset.
    pub offset: i64,
    /// Milliseconds since 1970, if it has a timestamp.
    pub timestamp: Option<i64>,
    /// Its key; `None` is null.
    pub key: Option<&'a [u8]>,
    /// Its value; `None` is null, a tombstone.
    pub value: Option<&'a [u8]>,
}

/// The clients of a log.
#[derive(Debug, Clone)]
pub struct LogClients {
    /// Reads; its `isolation.level` decides whether records of open and aborted transactions are seen. Without a group.
    pub consumer: ClientConfig,
    /// Writes.
    pub producer: ClientConfig,
    /// Where the producer comes from.
    pub pool: Arc<ProducerPool>,
    /// Asks where the log ends: on a connection of its own, because a fetch holds up what comes after it.
    pub admin: KafkaAdmin,
}

/// What is called, on the log's thread, for each record in the order of its partition. It must not block.
type OnRecord = Box<dyn FnMut(LogRecord<'_>) + Send>;

/// A topic that is read to its end and followed until this is dropped.
#[derive(Debug)]
pub struct KafkaLog {
    topic: Text,
    n_partitions: usize,
    clients: LogClients,
    shared: Arc<Shared>,
    writer: tokio::sync::Mutex<Writer>,
}

#[derive(Debug, Default)]
struct Writer {
    producer: Option<TaskProducer>,
    next_seq: u64,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    thread: OnceLock<Thread>,
}

#[derive(Debug, Default)]
struct State {
    stop: bool,
    failed: Option<KafkaError>,
    /// Those who wait until the positions have reached these offsets, and where partitions begin.
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    beginnings: Vec<i64>,
    ends: Vec<i64>,
    reached: oneshot::Sender<Result<(), KafkaError>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

impl KafkaLog {
    /// Opens a topic that exists and reads what is visible: up to its end, or for a reader of committed records up to the
    /// first open transaction.
    ///
    /// # Errors
    /// The topic does not exist, or its records may not be read. While no broker can be reached the error is retriable.
    pub async fn open(topic: &str, clients: LogClients, on_record: OnRecord) -> Result<Self, KafkaError> {
        let n_partitions = clients
            .admin
            .partitions(topic)
            .await?
            .ok_or_else(|| KafkaError::new(ErrorClass::Fatal, format!("topic `{topic}` does not exist")))?;
        let client = Client::new(Role::Consumer, &clients.consumer.entries)
            .map_err(|error| KafkaError::native(&error, "cannot create a consumer"))?;
        let name = Text::from(topic);
        let handle = Topic::new(&client, topic)
            .map_err(|code| KafkaError::coded(code, &format!("topic name `{topic}` is not usable"), ""))?;
        let shared = Arc::new(Shared::default());
        let reader = Reader {
            shared: Arc::clone(&shared),
            topic: name.clone(),
            positions: vec![0; n_partitions],
            events: ClientEvents::new(Arc::clone(&client), &clients.consumer),
            batches: BatchReader::new(ROUND_RECORDS_MAX),
            on_record,
            handle,
            client,
        };
        let thread = thread::Builder::new()
            .name(format!("log {topic}"))
            .spawn(move || reader.run())
            .map_err(|error| KafkaError::new(ErrorClass::Retriable, format!("cannot start a thread: {error}")))?;
        let _first = shared.thread.set(thread.thread().clone());
        let log = Self { topic: name, n_partitions, clients, shared, writer: tokio::sync::Mutex::default() };
        // What is behind an open transaction is not waited for: who needs it asks for the end.
        let committed_only = log.clients.consumer.native("isolation.level") == Some("read_committed");
        log.read_to(committed_only).await?;
        Ok(log)
    }

    /// The topic's name.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// How many partitions the topic had when it was opened.
    #[must_use]
    pub fn n_partitions(&self) -> usize {
        self.n_partitions
    }

    /// Returns when every record that was in the log at the time of the call has been given to the callback. A reader of
    /// committed records waits until transactions that are open now have ended, whosever they are: a committed record may
    /// stand behind them.
    ///
    /// # Errors
    /// Retriable while no broker can be reached; fatal if the log cannot be read any more.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the waiting.
    pub async fn read_to_end(&self) -> Result<(), KafkaError> {
        self.read_to(false).await
    }

    /// With `committed_only` up to the first open transaction.
    async fn read_to(&self, committed_only: bool) -> Result<(), KafkaError> {
        let all = || {
            let numbers = (0..self.n_partitions).filter_map(|number| i32::try_from(number).ok());
            numbers.map(|number| TopicPartition::new(self.topic.clone(), number)).collect::<Vec<_>>()
        };
        let beginnings = self.clients.admin.beginning_offsets(all()).await?;
        let ends = self.clients.admin.end_offsets(all(), committed_only).await?;
        let in_order = |offsets: BTreeMap<TopicPartition, i64>| {
            all().iter().map(|partition| offsets.get(partition).copied().unwrap_or(0)).collect()
        };
        let (reached, waits) = oneshot::channel();
        let waiting = Waiting { beginnings: in_order(beginnings), ends: in_order(ends), reached };
        self.shared.lock().waiting.push(waiting);
        self.shared.wake();
        waits.await.unwrap_or_else(|_| {
            Err(KafkaError::new(ErrorClass::Fatal, format!("reading topic `{}` has ended", &*self.topic)))
        })
    }

    /// Writes records, each a key with a value or a tombstone, and waits until the broker has them all. Writes wait for
    /// each other.
    ///
    /// # Errors
    /// A record was refused, or the producer has failed; some of the records may be in the log.
    ///
    /// # Cancel safety
    /// Records whose waiting is given up may be in the log, or come later.
    pub async fn write(&self, records: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> Result<(), TaskError> {
        if records.is_empty() {
            return Ok(());
        }
        let n = records.len() as u64;
        let mut writer = self.writer.lock().await;
        if writer.producer.is_none() {
            *writer = Writer { producer: Some(self.clients.pool.producer(&self.clients.producer)?), next_seq: 0 };
        }
        let Writer { producer: place, next_seq } = &mut *writer;
        let Some(producer) = place else { return Ok(()) };
        let first = *next_seq;
        *next_seq += n;
        let pairs = records.iter().map(|(key, value)| (key.as_slice(), value.as_deref()));
        let mut batch = Some(keyed_batch(&self.topic, first, pairs));
        let sent = poll_fn(|cx| producer.poll_send(cx, &mut batch)).await;
        producer.hurry();
        let result = match sent {
            Ok(()) => acknowledged(producer, first, n).await,
            Err(error) => Err(Written::ProducerFailed(error)),
        };
        match result {
            Ok(()) => Ok(()),
            Err(Written::Refused(error)) => Err(error),
            Err(Written::ProducerFailed(error)) => {
                // It is replaced at the next write.
                *place = None;
                Err(error)
            }
        }
    }
}

/// Why a write did not succeed.
enum Written {
    Refused(TaskError),
    ProducerFailed(TaskError),
}

/// Waits until `n` records from `first` on are acknowledged. Those of an earlier write that was given up are passed over.
async fn acknowledged(producer: &mut TaskProducer, first: u64, n: u64) -> Result<(), Written> {
    let (mut left, mut refused) = (n, None);
    let mut acks = Vec::new();
    while left > 0 {
        poll_fn(|cx| producer.poll_acks(cx, &mut acks)).await.map_err(Written::ProducerFailed)?;
        for ack in acks.drain(..) {
            let (Ack::Delivered { first: start, n } | Ack::Failed { first: start, n, .. }) = &ack;
            let ours = (start + u64::from(*n)).saturating_sub((*start).max(first));
            left -= ours.min(left);
            if let Ack::Failed { error, .. } = ack
                && ours > 0
            {
                refused.get_or_insert(error);
            }
        }
    }
    match refused {
        None => Ok(()),
        Some(error) if error.is_retriable() => Err(Written::Refused(TaskError::retriable(error.chain()))),
        Some(error) => Err(Written::Refused(TaskError::fatal(error.chain()))),
    }
}

impl Drop for KafkaLog {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake();
    }
}

/// The thread of a log.
struct Reader {
    shared: Arc<Shared>,
    topic: Text,
    /// The offset that comes next, by partition.
    positions: Vec<i64>,
    events: ClientEvents,
    batches: BatchReader,
    on_record: OnRecord,
    handle: Topic,
    client: Arc<Client>,
}

impl Reader {
    fn run(mut self) {
        let mut main = self.client.main_queue();
        let mut records = self.client.new_queue();
        main.wake(thread::current());
        records.wake(thread::current());
        let mut failed = None;
        for partition in self.numbers() {
            if let Err(code) = self.handle.read(partition, OFFSET_BEGINNING, &records) {
                failed = Some(self.error(code, ""));
            }
        }
        loop {
            let mut state = self.shared.lock();
            if state.stop {
                break;
            }
            if failed.is_some() {
                state.failed.clone_from(&failed);
            }
            if let Some(failed) = &state.failed {
                let failed = failed.clone();
                for waiting in state.waiting.drain(..) {
                    drop(waiting.reached.send(Err(failed.clone())));
                }
            }
            let anybody_waits = !state.waiting.is_empty();
            drop(state);
            match self.turn(&main, &records, anybody_waits) {
                Ok(true) => {}
                Ok(false) => thread::park_timeout(if anybody_waits { IDLE_WAITING } else { IDLE_MAX }),
                Err(error) => failed = Some(error),
            }
        }
        for partition in self.numbers() {
            self.handle.stop_reading(partition);
        }
    }

    fn numbers(&self) -> impl Iterator<Item = i32> + use<> {
        (0..self.positions.len()).filter_map(|number| i32::try_from(number).ok())
    }

    fn error(&self, code: Code, why: &str) -> KafkaError {
        KafkaError::coded(code, &format!("topic `{}` cannot be read", &*self.topic), why)
    }

    /// One look at everything; false if there was nothing to do.
    fn turn(&mut self, main: &Queue, records: &Queue, anybody_waits: bool) -> Result<bool, KafkaError> {
        let mut worked = false;
        while let Some(event) = main.poll(Duration::ZERO) {
            worked = true;
            self.events.serve(event.kind())?;
        }
        let read = self.batches.read(records).map_err(|code| self.error(code, ""))?;
        for (code, text) in read.errors {
            match class_of(code) {
                _ if code == Code::PartitionEOF => {}
                ErrorClass::Retriable => drop(self.events.serve(EventKind::Error { code, fatal: false, text })?),
                _ => return Err(self.error(code, &text)),
            }
        }
        if let Some(batch) = read.batch {
            worked = true;
            self.events.alive();
            self.deliver(&batch);
        }
        if anybody_waits {
            self.move_positions();
            worked |= self.tell_waiting();
        }
        Ok(worked)
    }

    fn deliver(&mut self, batch: &ConsumedBatch) {
        let bytes = |at: (u32, u32)| &batch.buffer[at.0 as usize..][..at.1 as usize];
        for record in &batch.records {
            let partition = batch.partitions[record.partition as usize].partition;
            (self.on_record)(LogRecord {
                partition,
                offset: record.offset,
                timestamp: record.timestamp,
                key: record.key.map(bytes),
                value: record.value.map(bytes),
            });
        }
        for (partition, position) in batch.partitions.iter().zip(&batch.positions) {
            self.reached(partition.partition, *position);
        }
    }

    fn reached(&mut self, partition: i32, position: i64) {
        let place = usize::try_from(partition).ok().and_then(|number| self.positions.get_mut(number));
        if let Some(place) = place {
            *place = position.max(*place);
        }
    }

    /// Takes the positions behind markers and aborted records over, which come as no record.
    fn move_positions(&mut self) {
        let mut list = Partitions::new();
        for partition in self.numbers() {
            list.add(&self.topic, partition, OFFSET_INVALID);
        }
        if self.client.positions(&mut list).is_ok() {
            for entry in list.iter().filter(|entry| entry.error.is_none()) {
                self.reached(entry.partition, entry.offset);
            }
        }
    }

    fn tell_waiting(&mut self) -> bool {
        let mut state = self.shared.lock();
        let before = state.waiting.len();
        for waiting in std::mem::take(&mut state.waiting) {
            // An empty partition has a beginning but no position.
            for (position, beginning) in self.positions.iter_mut().zip(&waiting.beginnings) {
                *position = (*position).max(*beginning);
            }
            if self.positions.iter().zip(&waiting.ends).all(|(position, end)| position >= end) {
                // Nobody may wait any more.
                drop(waiting.reached.send(Ok(())));
            } else {
                state.waiting.push(waiting);
            }
        }
        state.waiting.len() < before
    }
}

#[cfg(test)]
#[path = "log/tests.rs"]
mod tests;
