//! What a task loop needs of the outside: producers, consumers, offset storage, topics, time, commands, reports.
//!
//! Poll-style methods register the waker of the context, as `Future::poll` does, so that a loop can wait for several of
//! them at once without a box for each wait.

use crate::{
    data::Text,
    erased::BoxFuture,
    error::TaskError,
    sink::TopicPartition,
    source::{OffsetMap, PartitionMap},
};
use bytes::Bytes;
use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

/// Time, so that tests can move it.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;
    /// Time since an arbitrary moment; never goes back.
    fn monotonic(&self) -> Duration;
    /// Completes when [`Self::monotonic`] has reached `until`.
    fn sleep_until(&self, until: Duration) -> BoxFuture<'static, ()>;
}

/// A place in the buffers of a [`ProduceBatch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slice {
    /// Which of the two buffers.
    pub buffer: u8,
    /// First byte.
    pub start: u32,
    /// How many bytes.
    pub len: u32,
}

/// One record of a [`ProduceBatch`]; its sequence number is that of the batch plus its index.
#[derive(Debug, Clone)]
pub struct ProduceRecord {
    /// Index into [`ProduceBatch::topics`].
    pub topic: u32,
    /// The partition, or the partitioner's choice.
    pub partition: Option<i32>,
    /// Milliseconds since 1970, or the time of sending.
    pub timestamp: Option<i64>,
    /// The key's bytes; `None` is null.
    pub key: Option<Slice>,
    /// The value's bytes; `None` is null.
    pub value: Option<Slice>,
    /// First header in [`ProduceBatch::headers`], and how many.
    pub headers: (u32, u32),
}

/// The converted records of one poll: handed to the producer whole, by value, with all bytes in at most two buffers.
#[derive(Debug, Default)]
pub struct ProduceBatch {
    /// Sequence number of the first record; the task counts them from 0 without a gap.
    pub first_seq: u64,
    /// The bytes: what was passed through, and what converters wrote.
    pub buffers: [Vec<u8>; 2],
    /// The topics, each once.
    pub topics: Vec<Text>,
    /// The records in order.
    pub records: Vec<ProduceRecord>,
    /// Header names and values.
    pub headers: Vec<(Slice, Option<Slice>)>,
}

impl Slice {
    /// Appends bytes to a buffer, the one of this number in its batch. Places have 32 bits, which batches stay far below.
    pub(crate) fn write(number: u8, buffer: &mut Vec<u8>, bytes: &[u8]) -> Self {
        let place = |n| u32::try_from(n).unwrap_or(u32::MAX);
        let start = place(buffer.len());
        buffer.extend_from_slice(bytes);
        Self { buffer: number, start, len: place(bytes.len()) }
    }
}

impl ProduceBatch {
    /// The bytes at a place.
    #[must_use]
    pub fn bytes(&self, at: Slice) -> &[u8] {
        let start = at.start as usize;
        &self.buffers[usize::from(at.buffer)][start..start + at.len as usize]
    }

    /// Bytes in both buffers.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.buffers[0].len() + self.buffers[1].len()
    }

    /// Bytes of the key, value and headers of one record.
    #[must_use]
    pub fn record_bytes(&self, record: &ProduceRecord) -> usize {
        let of = |slice: Option<Slice>| slice.map_or(0, |s| s.len as usize);
        let (first, n) = (record.headers.0 as usize, record.headers.1 as usize);
        let headers = self.headers[first..first + n].iter().map(|(name, value)| name.len as usize + of(*value));
        of(record.key) + of(record.value) + headers.sum::<usize>()
    }
}

/// What became of records that were handed to a producer.
#[derive(Debug)]
pub enum Ack {
    /// The broker has them.
    Delivered {
        /// Sequence number of the first.
        first: u64,
        /// How many follow each other.
        n: u32,
    },
    /// The broker refused them, for ever; later ones may be delivered all the same.
    Failed {
        /// Sequence number of the first.
        first: u64,
        /// How many follow each other.
        n: u32,
        /// Why, with topic and partition in its text.
        error: Arc<TaskError>,
    },
}

/// A task's way into Kafka. Behind it several tasks may share one client.
pub trait RecordProducer: Send {
    /// Hands a batch over: takes it out of `batch` once there is room in the producer's queue.
    ///
    /// An error is fatal for this producer: the task drops it and fails or starts again.
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>>;

    /// Appends what has become of records since the last call; pending while there is nothing new.
    fn poll_acks(&mut self, cx: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>>;

    /// Asks the producer to send what it has without waiting for more (before a stop or a commit).
    fn hurry(&mut self);

    /// A spent buffer to use again, if there is one.
    fn reclaim(&mut self) -> Option<Vec<u8>>;
}

/// How a transaction ends.
#[derive(Debug, Clone, PartialEq)]
pub enum TransactionEnd {
    /// Its records become visible together with these offsets.
    ///
    /// Where no transaction is open, one is begun for the offsets alone.
    Commit(Vec<(PartitionMap, OffsetMap)>),
    /// Its records are never seen. Nothing happens where no transaction is open.
    Abort,
}

/// Why a transaction could not be ended as asked.
#[derive(Debug)]
pub enum TransactionError {
    /// It must be aborted; a later one may work. The task goes back to the last committed offsets.
    Abortable(TaskError),
    /// This producer must not write any more: another one has its transactional id, the transaction took longer than
    /// `transaction.timeout.ms`, or nothing but a change of configuration helps. What was not committed is never seen.
    Fatal(TaskError),
}

/// A producer whose records, and the offsets of their source partitions, go into transactions (KIP-98, KIP-618).
///
/// The first batch after [`Self::poll_start`], or after the end of a transaction, begins one. Errors of
/// [`RecordProducer::poll_send`] and [`RecordProducer::poll_acks`] are fatal as those of [`TransactionError::Fatal`]; a
/// record that is refused ([`Ack::Failed`]) leaves nothing but to abort. What may be tried again (a broker that is away, a
/// commit without an answer) is tried again behind this port, for as long as it takes.
pub trait TransactionalProducer: RecordProducer {
    /// Takes the transactional id: every older producer with it is fenced, and what it has left open is aborted. Ready
    /// once that is done; called once, before anything else, and before the task reads its offsets.
    fn poll_start(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TaskError>>;

    /// Ends the transaction: what was handed over before is part of it. One end at a time, and no batch is handed over
    /// until [`Self::poll_end`] is ready.
    fn end(&mut self, how: TransactionEnd);

    /// Ready once the transaction has ended. After an abortable error the caller asks for [`TransactionEnd::Abort`].
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransactionError>>;
}

/// What a task needs to know of a topic before it produces to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopicLimits {
    /// The largest record that the client and the topic take, in bytes of key, value and headers.
    pub record_bytes_max: usize,
}

/// Topics: made by the connector's `topic.creation.*` rules where they are missing.
pub trait TopicEnsurer: Send + Sync {
    /// Called once for each new topic of a task, before the first record goes there.
    ///
    /// # Errors
    /// Fatal if the topic cannot be made; retriable while the broker cannot be reached.
    fn ensure<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<TopicLimits, TaskError>>;
}

/// Where records go that a step could not take (`errors.deadletterqueue.*`). A source's dead letters go through its own
/// producer, in the order of its records.
#[derive(Clone)]
pub struct DeadLetterTopic {
    /// `errors.deadletterqueue.topic.name`.
    pub name: Text,
    /// `errors.deadletterqueue.context.headers.enable`: headers say what failed, and where the record came from.
    pub context_headers: bool,
    /// Makes the topic if it is missing; asked once, before the task's first record.
    pub topics: Arc<dyn TopicEnsurer>,
}

impl fmt::Debug for DeadLetterTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadLetterTopic").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A sink's dead letter queue, with a producer of its own.
pub struct SinkDeadLetters {
    /// The topic.
    pub topic: DeadLetterTopic,
    /// The way there.
    pub producer: Box<dyn RecordProducer>,
}

impl fmt::Debug for SinkDeadLetters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SinkDeadLetters").field("topic", &self.topic).finish_non_exhaustive()
    }
}

/// Source offsets of one connector.
pub trait OffsetStore: Send + Sync {
    /// The stored offsets of these partitions, in their order.
    ///
    /// # Errors
    /// Retriable while the store cannot be reached.
    fn load(&self, partitions: Vec<PartitionMap>) -> BoxFuture<'_, Result<Vec<Option<OffsetMap>>, TaskError>>;

    /// Stores offsets durably; all or some may be stored if it fails.
    ///
    /// Called by one task with one call at a time. After `offset.flush.timeout.ms` the future is dropped and a later
    /// call has the same or newer offsets: what an abandoned call still writes must not come behind a later one's.
    ///
    /// # Errors
    /// The caller keeps the offsets and stores them, or newer ones, later.
    fn store(&self, offsets: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<(), TaskError>>;
}

/// What a task is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetState {
    /// Run.
    Started,
    /// Stay, but do no work.
    Paused,
    /// End.
    Stopped,
}

/// The herder's wishes.
pub trait Commands: Send {
    /// The wished state now.
    fn target(&self) -> TargetState;
    /// Completes when the wished state is another than `seen`.
    fn poll_change(&mut self, cx: &mut Context<'_>, seen: TargetState) -> Poll<TargetState>;
}

/// What a task is doing, as the status store and operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEvent {
    /// Works.
    Running,
    /// Paused as asked.
    Paused,
    /// A record that failed, or what `errors.log.enable` has to say about many of them: an error line in the log.
    Error(String),
    /// Something worth a warning in the log; the constant part of the message and the details.
    Warning(String),
    /// Something worth an info line in the log.
    Info(String),
}

/// Why a record was not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// A transformation answered nothing.
    Filtered,
    /// A converter or transformation failed and `errors.tolerance=all`.
    Failed,
    /// The broker refused it and `errors.tolerance=all`.
    Refused,
    /// The sink rejected it.
    Rejected,
}

/// What error handling has done with the records of one batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Steps of a record that failed, each try for itself.
    pub failures: u64,
    /// Tries that were made again.
    pub retries: u64,
    /// Failed records that got a line in the log (`errors.log.enable`).
    pub logged: u64,
    /// Records that were handed to the dead letter queue.
    pub dead_letters: u64,
    /// Records that the dead letter queue refused; the task fails.
    pub dead_letter_failures: u64,
}

/// Counters and events of one task; called once a batch, never once a record.
pub trait TaskObserver: Send + Sync {
    /// Something happened.
    fn event(&self, event: TaskEvent);
    /// A batch was polled (source) or consumed (sink).
    fn records_in(&self, records: u64, bytes: u64);
    /// A batch was acknowledged (source) or put (sink).
    fn records_out(&self, records: u64, bytes: u64);
    /// Records were skipped.
    fn skipped(&self, reason: SkipReason, records: u64);
    /// Records failed, were tried again, or were put aside; what became of them is told by [`Self::skipped`].
    fn errors(&self, counts: ErrorCounts);
    /// Offsets were stored or committed (true), or it failed (false).
    fn offsets_committed(&self, ok: bool);
}

/// One record as it came from Kafka; the places are in [`ConsumedBatch::buffer`].
#[derive(Debug, Clone)]
pub struct ConsumedRecord {
    /// Index into [`ConsumedBatch::partitions`].
    pub partition: u32,
    /// Its offset.
    pub offset: i64,
    /// Milliseconds since 1970, if the record has a timestamp.
    pub timestamp: Option<i64>,
    /// The key's bytes: start and length; `None` is null.
    pub key: Option<(u32, u32)>,
    /// The value's bytes: start and length; `None` is null.
    pub value: Option<(u32, u32)>,
    /// First header in [`ConsumedBatch::headers`], and how many.
    pub headers: (u32, u32),
}

/// Where a header's name and value stand in [`ConsumedBatch::buffer`]: start and length each; no value is null.
pub type HeaderPlaces = ((u32, u32), Option<(u32, u32)>);

/// The records of one consumer poll, copied into one buffer; nothing in it belongs to the client library.
#[derive(Debug, Default)]
pub struct ConsumedBatch {
    /// All keys, values and headers.
    pub buffer: Bytes,
    /// The partitions that the records come from, each once.
    pub partitions: Vec<Arc<TopicPartition>>,
    /// The records, in order of offset within each partition.
    pub records: Vec<ConsumedRecord>,
    /// Header names (as bytes: they need not be UTF-8) and values.
    pub headers: Vec<HeaderPlaces>,
    /// Per partition of `partitions`: the consumer's position after this batch, which may lie beyond the last record
    /// (transaction markers).
    pub positions: Vec<i64>,
}

impl ConsumedBatch {
    /// The bytes at a place, sharing the buffer.
    #[must_use]
    pub fn bytes(&self, at: (u32, u32)) -> Bytes {
        self.buffer.slice(at.0 as usize..at.0 as usize + at.1 as usize)
    }
}

/// What a consumer has to say. At most one event is under way; the consumer waits for the task where a reply is due.
#[derive(Debug)]
pub enum ConsumerEvent {
    /// Records.
    Records(ConsumedBatch),
    /// Partitions were given, with the offset to read from. Reply with [`RecordConsumer::start`].
    Assigned(Vec<(Arc<TopicPartition>, i64)>),
    /// Partitions are being taken: run the last commit, then reply with [`RecordConsumer::released`].
    Revoked(Vec<Arc<TopicPartition>>),
    /// Partitions are gone already.
    Lost(Vec<Arc<TopicPartition>>),
    /// An asynchronous commit has ended.
    Committed {
        /// The number that [`RecordConsumer::commit`] gave it.
        number: u64,
        /// Whether the broker took it.
        result: Result<(), TaskError>,
    },
}

/// A sink task's way out of Kafka.
pub trait RecordConsumer: Send {
    /// The next event.
    ///
    /// # Errors
    /// Fatal errors of the client; the task fails.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<ConsumerEvent, TaskError>>;
    /// Ends an assignment round: reads the partitions from these offsets on.
    fn start(&mut self, from: Vec<(Arc<TopicPartition>, i64)>);
    /// Ends a revocation round: the partitions may be given up.
    fn released(&mut self);
    /// Commits in the background; the result comes as [`ConsumerEvent::Committed`] with this number.
    fn commit(&mut self, number: u64, offsets: Vec<(Arc<TopicPartition>, i64)>);
    /// Commits and waits for the broker's answer.
    fn commit_now(&mut self, offsets: Vec<(Arc<TopicPartition>, i64)>) -> BoxFuture<'_, Result<(), TaskError>>;
    /// Stops the delivery of partitions; group membership goes on.
    fn pause(&mut self, partitions: Vec<Arc<TopicPartition>>);
    /// Delivers partitions again.
    fn resume(&mut self, partitions: Vec<Arc<TopicPartition>>);
    /// Goes back (or forward); records that are under way from before are not delivered.
    fn seek(&mut self, to: Vec<(Arc<TopicPartition>, i64)>);
    /// Leaves the group. The task has committed and closed everything before.
    fn close(&mut self) -> BoxFuture<'_, ()>;
}
