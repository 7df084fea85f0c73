//! The loop of an at-least-once source task: poll, convert, produce, and store what is accepted.
//!
//! One future, no executor. Whatever it waits for, acknowledgements, the offset store, the commit hook and the flush
//! timer are served meanwhile (`SourceTask::background`), and a poll is dropped for nothing but a stop, a pause or a failure.
//! Converting, keeping count and committing are rooms of their own, so that a loop that puts records and offsets into
//! transactions can stand beside this one.

use super::{
    OpenCx, TaskEnd, TaskInfo,
    convert::{BatchConverter, Converted},
    guard::{self, guard},
    offset_committer::{HookCalls, OffsetCommitter},
    ports::{
        Ack, Clock, Commands, OffsetStore, ProduceBatch, RecordProducer, SkipReason, TargetState, TaskEvent,
        TaskObserver, TopicEnsurer,
    },
    submitted_records::{OnAck, Resolved, Runs, Submission, SubmittedRecords},
    wait::{Backoff, Streak, Timer, give_way},
};
pub use super::{
    convert::Converters,
    source_config::{SourceTaskConfig, SourceWorkerValues},
};
use crate::{
    data::Text,
    erased::{DynSource, DynSourceConnector, Polled, Properties},
    error::{Result, TaskError},
    source::{OffsetMap, PartitionMap},
    transform::Transformation,
};
use std::{
    collections::HashMap,
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

/// The first delay after a retriable error, as Kafka's.
const RETRY_DELAY_FIRST: Duration = Duration::from_millis(300);
/// The first wait after a poll that gave nothing.
const EMPTY_POLL_DELAY_FIRST: Duration = Duration::from_millis(1);
/// The longest wait after polls that gave nothing: an idle source costs 20 polls a second, and new input is seen within
/// this time. A source that can wait for its input does so inside `poll` and never meets it.
const EMPTY_POLL_DELAY_MAX: Duration = Duration::from_millis(50);
/// The wait between two tries to store the last offsets of a life.
const LAST_STORE_DELAY: Duration = Duration::from_millis(100);

/// The outside of a source task.
pub struct SourcePorts {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The way into Kafka.
    pub producer: Box<dyn RecordProducer>,
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
    pub chain: Option<Box<dyn Transformation>>,
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
    producer: Box<dyn RecordProducer>,
    topics: Arc<dyn TopicEnsurer>,
    offsets: Arc<dyn OffsetStore>,
    commands: Box<dyn Commands>,
    observer: Arc<dyn TaskObserver>,
    converter: BatchConverter,
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
        let SourcePorts { clock, producer, topics, offsets, commands, observer, converters, chain } = ports;
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
        Self {
            task,
            connector,
            properties,
            config,
            producer,
            topics,
            offsets,
            target: commands.target(),
            commands,
            observer,
            converter: BatchConverter::new(converters, chain, config.tolerate_errors),
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
            spare: Vec::new(),
            acks: Vec::new(),
            due: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Runs the task until it is told to stop or fails. Dropping the future kills it: nothing more is stored.
    pub async fn run(mut self) -> TaskEnd {
        match self.drive().await {
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
                LifeEnd::Retry(error) | LifeEnd::Failed(error) => {
                    self.flush_offsets().await;
                    return Err(error);
                }
            }
        }
    }

    /// Loads the offsets, once, and opens the source.
    async fn start(&mut self, loaded: &mut bool) -> Result<Box<dyn DynSource>, LifeEnd> {
        if !*loaded {
            let (store, partitions) = (self.offsets.clone(), self.partitions.to_vec());
            let mut load = pin!(async move { store.load(partitions).await });
            let offsets = self.step(|_, cx| load.as_mut().poll(cx)).await?;
            self.committer.loaded(offsets.map_err(|error| context("the stored offsets cannot be read", error))?);
            *loaded = true;
        }
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
            self.settle().await;
            self.close(source).await;
        } else {
            if let Err(panic) = guard::dispose("drop", source) {
                self.observer.event(TaskEvent::Warning(panic.to_string()));
            }
            self.settle().await;
        }
        // Whatever is still under way is repeated by the next life.
        self.records.abandon();
        end
    }

    async fn poll_and_send(&mut self, source: &mut Box<dyn DynSource>) -> Result<Never, LifeEnd> {
        loop {
            give_way().await;
            self.step(|s, _| if s.has_room() { Poll::Ready(()) } else { Poll::Pending }).await?;
            let polled = {
                let mut poll = guard("poll", || source.poll());
                self.step(|_, cx| Pin::new(&mut poll).poll(cx)).await?
            };
            polled?;
            let polled = source.take()?;
            if self.retry.streak.end() {
                self.retry.backoff.reset();
                self.observer.event(TaskEvent::Info("the source works again".to_owned()));
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

    /// Converts what a poll gave and hands it to the producer.
    async fn deliver(&mut self, source: &mut Box<dyn DynSource>, polled: Polled) -> Result<(), LifeEnd> {
        let Polled { mut records, offsets, acks: on_ack, equal_offsets } = polled;
        if equal_offsets && !std::mem::replace(&mut self.warned_of_equal_offsets, true) {
            self.observer.event(TaskEvent::Warning(
                "two records in a row have the same offset: after a restart both are sent again or the second one is \
                 lost; give each its own offset, or emit them as a group"
                    .to_owned(),
            ));
        }
        let n_bytes = records.n_bytes() as u64;
        let converted = self.converter.convert(&mut records, std::mem::take(&mut self.spare));
        let Converted { mut batch, mut runs, filtered, failed, first_failure, mut failure } = converted;
        self.observer.records_in(u64::from(runs.n_sent()) + filtered + failed, n_bytes);
        self.report_skipped(SkipReason::Filtered, filtered, None);
        self.report_skipped(SkipReason::Failed, failed, first_failure.as_ref());
        // Buffers that nothing refers to are used again.
        source.reuse_buffer(records.take_buffer());
        let wrote = !batch.buffers[1].is_empty();
        if !wrote {
            self.spare = std::mem::take(&mut batch.buffers[1]);
        }

        if let Some((topic, error)) = self.ensure_topics(&batch).await? {
            let first = batch.records.iter().position(|r| r.topic == topic).unwrap_or(0);
            cut(&mut batch, &mut runs, first);
            failure = Some(error);
        }
        if let Some(error) = self.check_sizes(&mut batch, &mut runs) {
            failure = Some(error);
        }
        if !runs.is_empty() {
            let bytes = batch.n_bytes();
            if !batch.records.is_empty() {
                batch.first_seq = self.records.next_seq();
                let mut batch = Some(batch);
                self.step(|s, cx| s.producer.poll_send(cx, &mut batch)).await?.map_err(LifeEnd::Failed)?;
            }
            self.records.submit(Submission { runs, offsets, on_ack, bytes }, &mut self.due);
            self.call_due();
        }
        while let Some(mut buffer) = self.producer.reclaim() {
            if wrote && self.spare.capacity() < buffer.capacity() {
                buffer.clear();
                self.spare = buffer;
            } else {
                source.reuse_buffer(buffer);
            }
        }
        failure.map_or(Ok(()), |error| Err(LifeEnd::Failed(error)))
    }

    /// Makes sure of the batch's topics. Answers the first one that cannot be had, and why.
    async fn ensure_topics(&mut self, batch: &ProduceBatch) -> Result<Option<(u32, TaskError)>, Interrupt> {
        let mut backoff = Backoff::new(RETRY_DELAY_FIRST, self.config.retry_delay_max);
        let mut failures = Streak::default();
        for (index, topic) in (0..).zip(&batch.topics) {
            // A topic of skipped records only is not made.
            if self.known_topics.contains_key(topic) || !batch.records.iter().any(|r| r.topic == index) {
                continue;
            }
            loop {
                let topics = self.topics.clone();
                let mut ensure = pin!(async { topics.ensure(topic).await });
                match self.step(|_, cx| ensure.as_mut().poll(cx)).await? {
                    Ok(limits) => {
                        self.known_topics.insert(topic.clone(), limits.record_bytes_max);
                        break;
                    }
                    Err(TaskError::Retriable { cause, after }) => {
                        if failures.add() {
                            self.observer.event(TaskEvent::Warning(format!(
                                "topic `{topic}` cannot be reached and is tried again ({} in a row): {cause}",
                                failures.n()
                            )));
                        }
                        let delay = after.unwrap_or_else(|| backoff.next_delay());
                        self.rest(delay).await?;
                    }
                    Err(error) => return Ok(Some((index, context(&format!("topic `{topic}` cannot be used"), error)))),
                }
            }
        }
        Ok(None)
    }

    /// Takes records out that are too large for their topic: alone if errors are tolerated, else with all behind it.
    fn check_sizes(&self, batch: &mut ProduceBatch, runs: &mut Runs) -> Option<TaskError> {
        let limits: Vec<usize> =
            batch.topics.iter().map(|t| self.known_topics.get(t).copied().unwrap_or(usize::MAX)).collect();
        if limits.iter().all(|limit| batch.n_bytes() <= *limit) {
            return None;
        }
        let too_large: Vec<u32> = (0..)
            .zip(&batch.records)
            .filter(|(_, r)| batch.record_bytes(r) > limits[r.topic as usize])
            .map(|(i, _)| i)
            .collect();
        let &first = too_large.first()?;
        let record = &batch.records[first as usize];
        let error = TaskError::fatal(format!(
            "a record of {} bytes for topic `{}` is larger than its limit of {} bytes; raise both `max.message.bytes` of \
             the topic and `producer.override.max.request.size` of the connector",
            batch.record_bytes(record),
            batch.topics[record.topic as usize],
            limits[record.topic as usize]
        ));
        if !self.config.tolerate_errors {
            cut(batch, runs, first as usize);
            return Some(error);
        }
        runs.skip(&too_large);
        let mut skipped = too_large.iter().copied().peekable();
        let mut index = 0;
        batch.records.retain(|_| {
            index += 1;
            skipped.next_if_eq(&(index - 1)).is_none()
        });
        self.report_skipped(SkipReason::Refused, too_large.len() as u64, Some(&error));
        None
    }

    fn report_skipped(&self, reason: SkipReason, n: u64, first: Option<&TaskError>) {
        if n == 0 {
            return;
        }
        self.observer.skipped(reason, n);
        if let Some(error) = first.filter(|_| self.config.log_errors) {
            self.observer
                .event(TaskEvent::Warning(format!("{n} records were skipped; the first one: {}", error.chain())));
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

    /// Awaits what is under way and stores what is accepted, each for at most `offset.flush.timeout.ms`.
    async fn settle(&mut self) {
        let limit = self.config.worker.offset_flush_timeout;
        self.producer.hurry();
        self.wait.set(limit);
        poll_fn(|cx| {
            self.background(cx);
            let done = self.records.n_unresolved() == 0 || self.producer_broken;
            if done { Poll::Ready(()) } else { self.wait.poll(cx) }
        })
        .await;
        let unresolved = self.records.n_unresolved();
        if unresolved > 0 {
            self.observer.event(TaskEvent::Warning(format!(
                "{unresolved} records were not acknowledged within {} ms (`offset.flush.timeout.ms`); they are sent again",
                limit.as_millis()
            )));
        }
        self.flush_offsets().await;
    }

    /// Stores what is accepted, with as many tries as `offset.flush.timeout.ms` allows, and tells the hook once.
    async fn flush_offsets(&mut self) {
        self.commit();
        self.wait.set(self.config.worker.offset_flush_timeout);
        loop {
            let n_failures = self.committer.n_failures();
            let in_time = poll_fn(|cx| {
                self.background(cx);
                if self.committer.poll(cx).is_ready() { Poll::Ready(true) } else { self.wait.poll(cx).map(|()| false) }
            })
            .await;
            if !in_time || self.committer.is_stored() {
                return;
            }
            if self.committer.n_failures() > n_failures {
                let mut pause = Timer::new(self.clock.clone());
                pause.set(LAST_STORE_DELAY);
                poll_fn(|cx| {
                    self.background(cx);
                    pause.poll(cx)
                })
                .await;
            }
            self.committer.begin();
        }
    }

    /// Lets the source release what dropping cannot.
    async fn close(&mut self, source: Box<dyn DynSource>) {
        let mut close = guard("close", move || {
            let closing = source.close();
            Box::pin(async move {
                closing.await;
                Ok(())
            })
        });
        self.wait.set(self.config.worker.shutdown_graceful_timeout);
        let result = poll_fn(|cx| {
            self.background(cx);
            if let Poll::Ready(result) = Pin::new(&mut close).poll(cx) {
                return Poll::Ready(result);
            }
            self.wait.poll(cx).map(|()| Err(TaskError::fatal("`close` did not end in time; the source was dropped")))
        })
        .await;
        if let Err(error) = result {
            self.observer.event(TaskEvent::Warning(error.to_string()));
        }
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
            step(self, cx).map(Ok)
        })
        .await
    }

    /// Everything that goes on beside a step: acknowledgements, the flush timer, the store, the hook.
    fn background(&mut self, cx: &mut Context<'_>) {
        while !self.producer_broken {
            match self.producer.poll_acks(cx, &mut self.acks) {
                Poll::Ready(Ok(())) => self.take_acks(),
                Poll::Ready(Err(error)) => {
                    self.producer_broken = true;
                    self.failure.get_or_insert(error);
                }
                Poll::Pending => break,
            }
        }
        while self.flush.poll(cx).is_ready() {
            self.flush.set(self.config.worker.offset_flush_interval);
            self.commit();
        }
        // Ready or not: what matters is that it moves on.
        let _ready = self.committer.poll(cx).is_ready();
    }

    fn take_acks(&mut self) {
        let mut out = Resolved::default();
        let mut n_refused = 0;
        let mut first_refused = None;
        for ack in self.acks.drain(..) {
            let resolved = match ack {
                Ack::Delivered { first, n } => self.records.acked(first, n, &mut self.due),
                Ack::Failed { first, n, error } if self.config.tolerate_errors => {
                    n_refused += u64::from(n);
                    first_refused.get_or_insert(error);
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
        if out.records > 0 || out.bytes > 0 {
            self.observer.records_out(out.records, out.bytes);
        }
        self.report_skipped(SkipReason::Refused, n_refused, first_refused.as_deref());
        self.call_due();
    }

    /// Starts to store what is accepted now.
    fn commit(&mut self) {
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

/// Ends the batch before the record at `index`.
fn cut(batch: &mut ProduceBatch, runs: &mut Runs, index: usize) {
    batch.records.truncate(index);
    runs.cut(u32::try_from(index).unwrap_or(u32::MAX));
}

/// The same error, with words before it.
fn context(words: &str, error: TaskError) -> TaskError {
    match error {
        TaskError::Retriable { cause, after } => {
            TaskError::Retriable { cause: Box::new(InContext { words: words.to_owned(), cause }), after }
        }
        TaskError::Fatal(cause) => TaskError::Fatal(Box::new(InContext { words: words.to_owned(), cause })),
    }
}

#[derive(Debug)]
struct InContext {
    words: String,
    cause: crate::error::Cause,
}

impl fmt::Display for InContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.words, self.cause)
    }
}

impl std::error::Error for InContext {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source()
    }
}

/// An error that several records share.
#[derive(Debug)]
struct Shared(Arc<TaskError>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Shared {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause().source()
    }
}

#[cfg(test)]
mod tests;
