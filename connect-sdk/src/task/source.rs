//! The loop of a source task: poll, convert, produce, and store what is accepted.
//!
//! One future, no executor. Whatever it waits for, acknowledgements, the offset store or the transaction, the commit hook
//! and the flush timer are served meanwhile (`SourceTask::background`), and a poll is dropped for nothing but a stop, a
//! pause or a failure. What an exactly-once task does otherwise is in `transactions`.

mod delivery;
mod ending;
mod errors;
mod tolerance;
mod transactions;

pub use super::source_config::{SourceTaskConfig, SourceWorkerValues, TransactionBoundary};
pub use transactions::SourceProducer;

use super::{
    Converters, OpenCx, TaskEnd, TaskInfo,
    convert::BatchConverter,
    errors::{ErrorReporter, Retries, SourceLetters},
    guard::{self, guard},
    offset_committer::{HookCalls, OffsetCommitter},
    ports::{Ack, Clock, Commands, DeadLetterTopic, OffsetStore, TargetState, TaskEvent, TaskObserver, TopicEnsurer},
    submitted_records::{OnAck, Resolved, SubmittedRecords},
    wait::{Backoff, Streak, Timer, give_way},
};
use crate::{
    data::Text,
    erased::{DynSource, DynSourceConnector, DynTransformation, Properties},
    error::{Result, TaskError},
    source::{OffsetMap, PartitionMap},
};
use errors::{Shared, context, shared};
use std::{
    collections::HashMap,
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tolerance::Tolerance;
use transactions::Transactions;

/// The first delay after a retriable error, as Kafka's.
const RETRY_DELAY_FIRST: Duration = Duration::from_millis(300);
/// The first wait after a poll that gave nothing.
const EMPTY_POLL_DELAY_FIRST: Duration = Duration::from_millis(1);
/// The longest wait after polls that gave nothing: an idle source costs 20 polls a second, and new input is seen within
/// this time. A source that can wait for its input does so inside `poll` and never meets it.
const EMPTY_POLL_DELAY_MAX: Duration = Duration::from_millis(50);
/// How long a poll may hold its thread without waiting before it is reported: other tasks stand still meanwhile.
const POLL_BLOCKING_MAX: Duration = Duration::from_secs(1);
/// The wait between two tries to store the last offsets of a life.
const LAST_STORE_DELAY: Duration = Duration::from_millis(100);

/// The outside of a source task.
pub struct SourcePorts {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The way into Kafka.
    pub producer: SourceProducer,
    /// Makes topics, and knows their limits.
    pub topics: Arc<dyn TopicEnsurer>,
    /// Keeps the offsets.
    pub offsets: Arc<dyn OffsetStore>,
    /// The herder's wishes.
    pub commands: Box<dyn Commands>,
    /// Counts and reports.
    pub observer: Arc<dyn TaskObserver>,
    /// Keys, values and headers to bytes.
    pub converters: Converters,
    /// The transformations, if there are any.
    pub chain: Option<Box<dyn DynTransformation>>,
    /// The dead letter queue, if there is one: for records that fail and are skipped.
    pub dead_letters: Option<DeadLetterTopic>,
}

impl fmt::Debug for SourcePorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourcePorts").field("chain", &self.chain.is_some()).finish_non_exhaustive()
    }
}

/// A source task, ready to run.
pub struct SourceTask {
    task: TaskInfo,
    connector: Arc<dyn DynSourceConnector>,
    properties: Properties,
    partitions: Arc<[PartitionMap]>,
    config: SourceTaskConfig,
    clock: Arc<dyn Clock>,
    producer: SourceProducer,
    /// Of an exactly-once task.
    transactions: Option<Transactions>,
    topics: Arc<dyn TopicEnsurer>,
    offsets: Arc<dyn OffsetStore>,
    commands: Box<dyn Commands>,
    observer: Arc<dyn TaskObserver>,
    converter: BatchConverter,
    tolerance: Tolerance,
    /// The state that is acted on; the herder may wish another one.
    target: TargetState,
    records: SubmittedRecords,
    committer: OffsetCommitter,
    /// The largest record of each topic that was made sure of.
    known_topics: HashMap<Text, usize>,
    flush: Timer,
    /// For whatever the loop itself waits for.
    wait: Timer,
    empty_polls: Backoff,
    retry: Retry,
    /// The first error of the producer, or the first refused record that must not be skipped.
    failure: Option<TaskError>,
    /// The producer answered with an error and must not be asked again.
    producer_broken: bool,
    /// RUNNING was reported since the start or the last pause.
    announced: bool,
    warned_of_equal_offsets: bool,
    blocking_polls: Streak,
    spare: Vec<u8>,
    acks: Vec<Ack>,
    due: Vec<OnAck>,
    taken: Vec<(u32, OffsetMap)>,
}

/// Retriable errors in a row, of poll and open.
#[derive(Debug)]
struct Retry {
    backoff: Backoff,
    streak: Streak,
    since: Duration,
}

/// Why a step was not finished.
enum Interrupt {
    /// Another state is wished.
    Changed(TargetState),
    /// The task fails.
    Failed(TaskError),
    /// A transaction was lost: the source goes back to the last committed offsets.
    Lost(TaskError),
}

/// Why a life has ended.
enum LifeEnd {
    Changed(TargetState),
    Retry(TaskError),
    Failed(TaskError),
}

impl From<Interrupt> for LifeEnd {
    fn from(interrupt: Interrupt) -> Self {
        match interrupt {
            Interrupt::Changed(target) => Self::Changed(target),
            Interrupt::Failed(error) => Self::Failed(error),
            Interrupt::Lost(error) => Self::Retry(error),
        }
    }
}

impl From<TaskError> for LifeEnd {
    fn from(error: TaskError) -> Self {
        if error.is_retriable() { Self::Retry(error) } else { Self::Failed(error) }
    }
}

impl SourceTask {
    /// A task for these source partitions of a connector.
    #[must_use]
    pub fn new(
        task: TaskInfo,
        connector: Arc<dyn DynSourceConnector>,
        properties: Properties,
        partitions: Vec<PartitionMap>,
        config: SourceTaskConfig,
        ports: SourcePorts,
    ) -> Self {
        let SourcePorts { clock, producer, topics, offsets, commands, observer, converters, chain, dead_letters } =
            ports;
        let partitions: Arc<[PartitionMap]> = partitions.into();
        let hook = HookCalls::new(connector.clone(), properties.clone(), OpenCx::new(task.clone()), partitions.clone());
        let committer = OffsetCommitter::new(
            offsets.clone(),
            observer.clone(),
            partitions.clone(),
            config.worker.offset_flush_timeout,
            Timer::new(clock.clone()),
            hook,
        );
        let letters = dead_letters.as_ref().map(|topic| SourceLetters {
            topic: topic.name.clone(),
            context_headers: topic.context_headers,
            task: task.clone(),
            partitions: partitions.clone(),
        });
        // The waits of two tasks, or of two lives of one, differ.
        let retries = Retries::new(&config.errors, clock.now_ms().unsigned_abs() ^ u64::from(task.index));
        let reporter = ErrorReporter::new(&task, config.errors, clock.clone(), observer.clone());
        Self {
            tolerance: Tolerance::new(reporter, retries, dead_letters, letters.clone()),
            task,
            connector,
            properties,
            config,
            transactions: match &producer {
                SourceProducer::AtLeastOnce(_) => None,
                SourceProducer::ExactlyOnce(_) => Some(Transactions::new(config.boundary, Timer::new(clock.clone()))),
            },
            producer,
            topics,
            offsets,
            target: commands.target(),
            commands,
            observer,
            converter: BatchConverter::new(converters, chain, config.errors.tolerate, letters),
            records: SubmittedRecords::new(partitions.len()),
            partitions,
            committer,
            known_topics: HashMap::new(),
            flush: Timer::new(clock.clone()),
            wait: Timer::new(clock.clone()),
            empty_polls: Backoff::new(EMPTY_POLL_DELAY_FIRST, EMPTY_POLL_DELAY_MAX),
            retry: Retry {
                backoff: Backoff::new(RETRY_DELAY_FIRST, config.retry_delay_max),
                streak: Streak::default(),
                since: Duration::ZERO,
            },
            clock,
            failure: None,
            producer_broken: false,
            announced: false,
            warned_of_equal_offsets: false,
            blocking_polls: Streak::default(),
            spare: Vec::new(),
            acks: Vec::new(),
            due: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Runs the task until it is told to stop or fails. Dropping the future kills it: nothing more is stored.
    pub async fn run(mut self) -> TaskEnd {
        let end = self.drive().await;
        self.tolerance.reporter.end();
        match end {
            Ok(()) => TaskEnd::Stopped,
            Err(error) => TaskEnd::Failed(error),
        }
    }

    async fn drive(&mut self) -> Result<()> {
        let mut loaded = false;
        self.flush.set(self.config.worker.offset_flush_interval);
        loop {
            let end = match self.target {
                TargetState::Stopped => {
                    self.flush_offsets().await;
                    if let Some(error) = self.failure.take() {
                        // As Kafka: what goes wrong after a stop was asked for is no failure of the task.
                        self.observer.event(TaskEvent::Warning(format!("while stopping: {}", error.chain())));
                    }
                    return Ok(());
                }
                TargetState::Paused => {
                    self.announced = false;
                    self.observer.event(TaskEvent::Paused);
                    self.step(|_, _| Poll::<Never>::Pending).await.map_or_else(LifeEnd::from, |never| match never {})
                }
                TargetState::Started => match self.start(&mut loaded).await {
                    Ok(source) => self.live(source).await,
                    Err(end) => end,
                },
            };
            let end = match end {
                LifeEnd::Retry(error) => match self.back_off(error).await {
                    Ok(()) => continue,
                    Err(interrupt) => interrupt.into(),
                },
                other => other,
            };
            match end {
                LifeEnd::Changed(target) => self.target = target,
                // A transaction was lost while the task waited: it goes back to the same offsets, if it may.
                LifeEnd::Retry(_) => {}
                LifeEnd::Failed(error) => {
                    self.flush_offsets().await;
                    return Err(error);
                }
            }
        }
    }

    /// Loads the offsets, once, and opens the source.
    async fn start(&mut self, loaded: &mut bool) -> Result<Box<dyn DynSource>, LifeEnd> {
        self.start_transactions().await?;
        self.ensure_dead_letter_topic().await?;
        if !*loaded {
            let (store, partitions) = (self.offsets.clone(), self.partitions.to_vec());
            let mut load = pin!(async move { store.load(partitions).await });
            let offsets = self.step(|_, cx| load.as_mut().poll(cx)).await?;
            self.committer.loaded(offsets.map_err(|error| context("the stored offsets cannot be read", error))?);
            *loaded = true;
        }
        self.await_transaction().await?;
        let (connector, properties, task) = (self.connector.clone(), self.properties.clone(), self.task.clone());
        let (positions, limits) = (self.committer.positions(), self.config.batch);
        let mut open = guard("open", move || connector.open(properties, task, positions, limits));
        let source = self.step(|_, cx| Pin::new(&mut open).poll(cx)).await??;
        if !std::mem::replace(&mut self.announced, true) {
            self.observer.event(TaskEvent::Running);
        }
        Ok(source)
    }

    /// One life of the source, to its end: what is accepted by then is stored.
    async fn live(&mut self, mut source: Box<dyn DynSource>) -> LifeEnd {
        let Err(end) = self.poll_and_send(&mut source).await;
        if let LifeEnd::Changed(_) = &end {
            // The poll is gone, with its part of a batch; earlier batches are awaited.
            self.settle(&end).await;
            self.close(source).await;
        } else {
            if let Err(panic) = guard::dispose("drop", source) {
                self.observer.event(TaskEvent::Warning(panic.to_string()));
            }
            self.settle(&end).await;
        }
        // Whatever is still under way is repeated by the next life.
        self.abandon();
        end
    }

    async fn poll_and_send(&mut self, source: &mut Box<dyn DynSource>) -> Result<Never, LifeEnd> {
        loop {
            give_way().await;
            self.step(|s, _| if s.has_room() { Poll::Ready(()) } else { Poll::Pending }).await?;
            let polled = {
                let mut poll = guard("poll", || source.poll());
                self.step(|s, cx| {
                    let before = s.clock.monotonic();
                    let polled = Pin::new(&mut poll).poll(cx);
                    s.report_blocking(before);
                    polled
                })
                .await?
            };
            polled?;
            let polled = source.take()?;
            if self.transactions.as_ref().is_none_or(|t| !t.is_failing()) {
                self.source_works();
            }
            if polled.records.is_empty() {
                let delay = self.empty_polls.next_delay();
                self.rest(delay).await?;
                continue;
            }
            self.empty_polls.reset();
            self.deliver(source, polled).await?;
        }
    }

    /// Ends a row of retriable errors.
    fn source_works(&mut self) {
        if self.retry.streak.end() {
            self.retry.backoff.reset();
            self.observer.event(TaskEvent::Info("the source works again".to_owned()));
        }
    }

    /// Reports a poll that has held its thread since `before`, if that was long.
    fn report_blocking(&mut self, before: Duration) {
        let took = self.clock.monotonic().saturating_sub(before);
        if took >= POLL_BLOCKING_MAX && self.blocking_polls.add() {
            self.observer.event(TaskEvent::Warning(format!(
                "`poll` of `{}` held its thread for {} ms without waiting ({} times so far); blocking calls belong into \
                 `spawn_blocking`",
                self.connector.meta().type_name,
                took.as_millis(),
                self.blocking_polls.n()
            )));
        }
    }

    fn has_room(&self) -> bool {
        self.records.n_records() < self.config.inflight_records_max
            && self.records.n_bytes() < self.config.inflight_bytes_max
    }

    /// Waits, and is interrupted by commands and failures.
    async fn rest(&mut self, delay: Duration) -> Result<(), Interrupt> {
        self.wait.set(delay);
        self.step(|s, cx| s.wait.poll(cx)).await
    }

    /// Waits before the source is opened again.
    async fn back_off(&mut self, error: TaskError) -> Result<(), Interrupt> {
        let now = self.clock.monotonic();
        if self.retry.streak.n() == 0 {
            self.retry.since = now;
        }
        if let Some(limit) = self.config.retry_timeout
            && now.saturating_sub(self.retry.since) >= limit
        {
            let words = format!("still failing after {} ms (`errors.retry.timeout`)", limit.as_millis());
            return Err(Interrupt::Failed(context(&words, error)));
        }
        let doubling = self.retry.backoff.next_delay();
        let delay = if let TaskError::Retriable { after: Some(after), .. } = &error { *after } else { doubling };
        if self.retry.streak.add() {
            self.observer.event(TaskEvent::Warning(format!(
                "the source is opened again in {} ms after a retriable error ({} in a row): {}",
                delay.as_millis(),
                self.retry.streak.n(),
                error.chain()
            )));
        }
        self.rest(delay).await
    }

    /// Runs one step of the loop, with everything else going on beside it.
    async fn step<T>(&mut self, mut step: impl FnMut(&mut Self, &mut Context<'_>) -> Poll<T>) -> Result<T, Interrupt> {
        poll_fn(|cx| {
            if let Poll::Ready(target) = self.commands.poll_change(cx, self.target) {
                return Poll::Ready(Err(Interrupt::Changed(target)));
            }
            self.background(cx);
            if let Some(error) = self.failure.take() {
                return Poll::Ready(Err(Interrupt::Failed(error)));
            }
            if let Some(error) = self.transactions.as_mut().and_then(Transactions::take_lost) {
                return Poll::Ready(Err(Interrupt::Lost(error)));
            }
            step(self, cx).map(Ok)
        })
        .await
    }

    /// Everything that goes on beside a step: acknowledgements, the flush timer, the store, the hook.
    fn background(&mut self, cx: &mut Context<'_>) {
        self.serve_acks(cx);
        while self.flush.poll(cx).is_ready() {
            self.flush.set(self.config.worker.offset_flush_interval);
            self.commit();
        }
        self.move_transaction(cx);
        // Ready or not: what matters is that it moves on.
        let _ready = self.committer.poll(cx).is_ready();
    }

    fn serve_acks(&mut self, cx: &mut Context<'_>) {
        while !self.producer_broken {
            match self.producer.records().poll_acks(cx, &mut self.acks) {
                Poll::Ready(Ok(())) => self.take_acks(),
                Poll::Ready(Err(error)) => {
                    self.producer_broken = true;
                    self.failure.get_or_insert(error);
                }
                Poll::Pending => break,
            }
        }
    }

    fn take_acks(&mut self) {
        let mut out = Resolved::default();
        for ack in std::mem::take(&mut self.acks) {
            let resolved = match ack {
                Ack::Delivered { first, n } => {
                    // Dead letters are acknowledged, but not passed on.
                    let n_letters = self.delivered_letters(first, n);
                    let resolved = self.records.acked(first, n, &mut self.due);
                    Resolved { records: resolved.records.saturating_sub(n_letters), ..resolved }
                }
                Ack::Failed { error, .. } if self.transactions.is_some() => {
                    let refused = |t: &mut Transactions| t.refused(shared(error));
                    if let Some(error) = self.transactions.as_mut().and_then(refused) {
                        self.failure.get_or_insert(error);
                    }
                    continue;
                }
                // A client that gave up has lost the record, and the next ones too: that is nothing to pass over.
                Ack::Failed { first, n, ref error } if self.config.errors.tolerate && !error.is_retriable() => {
                    if let Some(error) = self.tolerate_refused(&ack) {
                        self.records.failed(first, n);
                        self.failure.get_or_insert(error);
                        continue;
                    }
                    let resolved = self.records.acked(first, n, &mut self.due);
                    Resolved { records: 0, ..resolved }
                }
                Ack::Failed { first, n, error } => {
                    self.records.failed(first, n);
                    self.failure.get_or_insert_with(|| TaskError::fatal(Shared(error)));
                    continue;
                }
            };
            out.records += resolved.records;
            out.bytes += resolved.bytes;
        }
        if let Some(transactions) = &mut self.transactions {
            return transactions.acknowledged(out, &mut self.due);
        }
        if out.records > 0 || out.bytes > 0 {
            self.observer.records_out(out.records, out.bytes);
        }
        self.call_due();
    }

    /// Starts to store what is accepted now.
    fn commit(&mut self) {
        self.tolerance.reporter.tell();
        if self.transactions.is_some() {
            self.commit_offsets_alone();
            // The hook may have something left to hear.
            return self.committer.begin();
        }
        self.records.take(&mut self.taken);
        self.committer.accept(&mut self.taken);
        self.committer.begin();
    }

    /// Tells the source's acknowledgement callbacks.
    fn call_due(&mut self) {
        for on_ack in self.due.drain(..) {
            if let Err(panic) = guard::call("an acknowledgement callback", on_ack) {
                self.failure.get_or_insert(panic);
            }
        }
    }
}

impl fmt::Debug for SourceTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceTask").field("task", &self.task).field("records", &self.records).finish_non_exhaustive()
    }
}

/// The loop of a life has no good end.
enum Never {}

#[cfg(test)]
mod tests;
