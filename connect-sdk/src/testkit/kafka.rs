//! `MemoryKafka`: topics in memory, with a producer that acknowledges as its fault plan says.

use super::{
    MemoryOffsets, Random, VirtualClock,
    transactions::{MemoryTransactions, TransactionLog},
};
use crate::{
    data::Text,
    erased::BoxFuture,
    error::TaskError,
    task::ports::{
        Ack, Clock, ProduceBatch, ProduceRecord, RecordProducer, Slice, TopicEnsurer, TopicLimits,
        TransactionalProducer,
    },
};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

/// A record as a topic holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Produced {
    /// The topic.
    pub topic: String,
    /// The partition, if the connector chose one.
    pub partition: Option<i32>,
    /// Milliseconds since 1970, if the connector set a timestamp.
    pub timestamp: Option<i64>,
    /// The key's bytes.
    pub key: Option<Vec<u8>>,
    /// The value's bytes.
    pub value: Option<Vec<u8>>,
    /// The headers.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

impl Produced {
    /// The value as text; empty for a tombstone.
    #[must_use]
    pub fn text(&self) -> String {
        self.value.as_deref().map(|v| String::from_utf8_lossy(v).into_owned()).unwrap_or_default()
    }

    fn of(batch: &ProduceBatch, record: &ProduceRecord) -> Self {
        let bytes = |slice: Option<Slice>| slice.map(|s| batch.bytes(s).to_vec());
        let (first, n) = (record.headers.0 as usize, record.headers.1 as usize);
        Self {
            topic: batch.topics[record.topic as usize].to_string(),
            partition: record.partition,
            timestamp: record.timestamp,
            key: bytes(record.key),
            value: bytes(record.value),
            headers: batch.headers[first..first + n]
                .iter()
                .map(|(name, value)| (String::from_utf8_lossy(batch.bytes(*name)).into_owned(), bytes(*value)))
                .collect(),
        }
    }
}

/// Answers why a record is refused, if it is.
pub type Refuse = Arc<dyn Fn(&Produced) -> Option<String> + Send + Sync>;

/// What goes wrong in a [`MemoryKafka`]; nothing by default.
#[derive(Clone)]
#[non_exhaustive]
pub struct FaultPlan {
    /// The shortest and longest time from hand-over to acknowledgement.
    pub ack_delay: (Duration, Duration),
    /// Records are acknowledged one by one, each after its own delay; otherwise a batch at once and in order.
    pub out_of_order: bool,
    /// Nothing is acknowledged while this is set.
    pub hold_acks: bool,
    /// Records of this topic are not acknowledged.
    pub stuck_topic: Option<String>,
    /// Refuses records for ever.
    pub refuse: Option<Refuse>,
    /// Refused records might have been taken later: their errors are retriable.
    pub refusals_pass: bool,
    /// How many records the producer's queue takes before it pushes back.
    pub queue_records_max: usize,
    /// The largest record of every topic.
    pub record_bytes_max: usize,
    /// How many calls of `ensure` fail with a retriable error.
    pub topic_failures: u32,
    /// A topic that cannot be made.
    pub forbidden_topic: Option<String>,
    /// The producer itself fails once it has taken so many records.
    pub producer_fails_after: Option<u64>,
    /// How many commits of transactions fail so that they must be aborted.
    pub abortable_commits: u32,
    /// The next commit of a transaction fails for good.
    pub fatal_commit: bool,
    /// The shortest and longest time that the end of a transaction takes; what is committed is seen at half of it.
    pub commit_delay: (Duration, Duration),
}

impl Default for FaultPlan {
    fn default() -> Self {
        Self {
            ack_delay: (Duration::from_millis(1), Duration::from_millis(5)),
            out_of_order: false,
            hold_acks: false,
            stuck_topic: None,
            refuse: None,
            refusals_pass: false,
            queue_records_max: usize::MAX,
            record_bytes_max: usize::MAX,
            topic_failures: 0,
            forbidden_topic: None,
            producer_fails_after: None,
            abortable_commits: 0,
            fatal_commit: false,
            commit_delay: (Duration::from_millis(1), Duration::from_millis(5)),
        }
    }
}

impl fmt::Debug for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultPlan").field("ack_delay", &self.ack_delay).finish_non_exhaustive()
    }
}

/// Topics in memory. Clones are the same.
#[derive(Debug, Clone)]
pub struct MemoryKafka {
    pub(super) clock: VirtualClock,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) plan: FaultPlan,
    pub(super) random: Random,
    pub(super) log: Vec<Produced>,
    ensured: Vec<String>,
    n_batches: u64,
    wakers: Vec<Waker>,
    pub(super) transactions: TransactionLog,
}

impl MemoryKafka {
    /// No topics, no faults; `seed` decides about delays.
    #[must_use]
    pub fn new(clock: VirtualClock, seed: u64) -> Self {
        let state = State {
            plan: FaultPlan::default(),
            random: Random::new(seed),
            log: Vec::new(),
            ensured: Vec::new(),
            n_batches: 0,
            wakers: Vec::new(),
            transactions: TransactionLog::default(),
        };
        Self { clock, state: Arc::new(Mutex::new(state)) }
    }

    /// Changes what goes wrong from now on.
    pub fn plan(&self, change: impl FnOnce(&mut FaultPlan)) {
        let mut state = self.lock();
        change(&mut state.plan);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// All records that were taken and not refused, in order of their hand-over, acknowledged or not; of transactions
    /// only the committed ones, in order of their commits.
    #[must_use]
    pub fn records(&self) -> Vec<Produced> {
        self.lock().log.clone()
    }

    /// How many there are of [`Self::records`].
    #[must_use]
    pub fn n_records(&self) -> usize {
        self.lock().log.len()
    }

    /// The values of [`Self::records`] as text.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.lock().log.iter().map(Produced::text).collect()
    }

    /// The topics that were asked for, in order, as often as they were asked for.
    #[must_use]
    pub fn ensured(&self) -> Vec<String> {
        self.lock().ensured.clone()
    }

    /// How many batches were handed over.
    #[must_use]
    pub fn n_batches(&self) -> u64 {
        self.lock().n_batches
    }

    /// A producer of its own.
    #[must_use]
    pub fn producer(&self) -> Box<dyn RecordProducer> {
        Box::new(MemoryProducer::new(self.clone()))
    }

    /// A producer whose records go into transactions, together with offsets that go to `offsets`.
    #[must_use]
    pub fn transactional_producer(&self, id: &str, offsets: &MemoryOffsets) -> Box<dyn TransactionalProducer> {
        Box::new(MemoryTransactions::new(self.clone(), id, offsets.clone()))
    }

    /// How many transactions were committed.
    #[must_use]
    pub fn n_transactions(&self) -> u64 {
        self.lock().transactions.n_committed
    }

    /// Lets another producer take a transactional id, so that the one that has it is fenced.
    pub fn fence(&self, id: &str) {
        let _epoch = self.lock().transactions.take_id(id);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TopicEnsurer for MemoryKafka {
    fn ensure<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<TopicLimits, TaskError>> {
        Box::pin(async move {
            let mut state = self.lock();
            state.ensured.push(topic.to_owned());
            if state.plan.topic_failures > 0 {
                state.plan.topic_failures -= 1;
                return Err(TaskError::retriable("the broker cannot be reached"));
            }
            if state.plan.forbidden_topic.as_deref() == Some(topic) {
                return Err(TaskError::fatal("not authorized"));
            }
            Ok(TopicLimits { record_bytes_max: state.plan.record_bytes_max })
        })
    }
}

pub(super) struct MemoryProducer {
    pub(super) kafka: MemoryKafka,
    /// The transactional id and its epoch: records stay unseen until their transaction is committed.
    pub(super) transaction: Option<(String, u64)>,
    /// By time of acknowledgement, then in order of hand-over.
    pending: BTreeMap<(Duration, u64), Pending>,
    n_pending: usize,
    n_taken: u64,
    sleep: Option<(Duration, BoxFuture<'static, ()>)>,
    send_waker: Option<Waker>,
    spent: Vec<Vec<u8>>,
}

struct Pending {
    n: u32,
    topic: Text,
    refused: Option<String>,
}

/// How many spent buffers a producer keeps for its task.
const SPENT_BUFFERS_MAX: usize = 4;

impl MemoryProducer {
    pub(super) fn new(kafka: MemoryKafka) -> Self {
        Self {
            kafka,
            transaction: None,
            pending: BTreeMap::new(),
            n_pending: 0,
            n_taken: 0,
            sleep: None,
            send_waker: None,
            spent: Vec::new(),
        }
    }

    /// True if nothing waits for its acknowledgement.
    pub(super) fn is_drained(&self) -> bool {
        self.n_pending == 0
    }

    /// Gives up what waits for its acknowledgement.
    pub(super) fn purge(&mut self) {
        self.pending.clear();
        self.n_pending = 0;
    }
}

impl RecordProducer for MemoryProducer {
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>> {
        let mut state = self.kafka.lock();
        if let Some((id, epoch)) = &self.transaction {
            state.transactions.check(id, *epoch)?;
        }
        if self.n_pending >= state.plan.queue_records_max {
            self.send_waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let Some(mut batch) = batch.take() else { return Poll::Ready(Ok(())) };
        state.n_batches += 1;
        let now = self.kafka.clock.now();
        let (shortest, longest) = state.plan.ack_delay;
        let refuse = state.plan.refuse.clone();
        let spread = usize::try_from(longest.saturating_sub(shortest).as_micros()).unwrap_or(usize::MAX);
        let mut batch_at = None;
        for (seq, record) in (batch.first_seq..).zip(&batch.records) {
            let produced = Produced::of(&batch, record);
            let refused = refuse.as_ref().and_then(|refuse| refuse(&produced));
            match (&refused, &self.transaction) {
                (Some(_), None) => {}
                (None, None) => state.log.push(produced),
                (refused, Some((id, _))) => state.transactions.add(id, produced, refused.is_some()),
            }
            let own_delay = state.plan.out_of_order || batch_at.is_none();
            if own_delay {
                let micros = u64::try_from(state.random.below(spread.saturating_add(1))).unwrap_or(0);
                batch_at = Some(now + shortest + Duration::from_micros(micros));
            }
            let at = batch_at.unwrap_or(now);
            let topic = batch.topics[record.topic as usize].clone();
            self.pending.insert((at, seq), Pending { n: 1, topic, refused });
        }
        self.n_pending += batch.records.len();
        self.n_taken += batch.records.len() as u64;
        for buffer in &mut batch.buffers {
            if buffer.capacity() > 0 && self.spent.len() < SPENT_BUFFERS_MAX {
                self.spent.push(std::mem::take(buffer));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_acks(&mut self, cx: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>> {
        let mut state = self.kafka.lock();
        if let Some((id, epoch)) = &self.transaction {
            state.transactions.check(id, *epoch)?;
        }
        if state.plan.producer_fails_after.is_some_and(|n| self.n_taken >= n) {
            return Poll::Ready(Err(TaskError::fatal("the producer was fenced")));
        }
        let before = into.len();
        let mut next = None;
        if !state.plan.hold_acks {
            let now = self.kafka.clock.now();
            let stuck = state.plan.stuck_topic.clone();
            let is_stuck = |p: &Pending| stuck.as_deref().is_some_and(|s| s == &*p.topic);
            let due: Vec<_> = self
                .pending
                .iter()
                .filter(|(_, p)| !is_stuck(p))
                .map(|(key, _)| *key)
                .take_while(|k| k.0 <= now)
                .collect();
            for key in due {
                let Some(pending) = self.pending.remove(&key) else { continue };
                self.n_pending -= pending.n as usize;
                let first = key.1;
                match (pending.refused, into.last_mut()) {
                    (Some(why), _) => {
                        let why = format!("topic `{}`: {why}", pending.topic);
                        let passes = state.plan.refusals_pass;
                        let error = Arc::new(if passes { TaskError::retriable(why) } else { TaskError::fatal(why) });
                        into.push(Ack::Failed { first, n: pending.n, error });
                    }
                    // Only what was added by this call may grow.
                    (None, Some(Ack::Delivered { first: last, n })) if *last + u64::from(*n) == first => {
                        *n += pending.n
                    }
                    (None, _) => into.push(Ack::Delivered { first, n: pending.n }),
                }
            }
            next = self.pending.iter().find(|(_, p)| !is_stuck(p)).map(|(key, _)| key.0);
        }
        if into.len() > before {
            drop(state);
            if let Some(waker) = self.send_waker.take() {
                waker.wake();
            }
            return Poll::Ready(Ok(()));
        }
        if !state.wakers.iter().any(|w| w.will_wake(cx.waker())) {
            state.wakers.push(cx.waker().clone());
        }
        drop(state);
        if let Some(at) = next {
            if self.sleep.as_ref().is_none_or(|(until, _)| *until != at) {
                self.sleep = Some((at, self.kafka.clock.sleep_until(at)));
            }
            if let Some((_, sleep)) = &mut self.sleep
                && sleep.as_mut().poll(cx).is_ready()
            {
                self.sleep = None;
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }

    fn hurry(&mut self) {}

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        self.spent.pop()
    }
}
