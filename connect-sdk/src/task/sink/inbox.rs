//! `Inbox`: the consumer, and the events that it sent while the sink was busy.

use crate::{
    error::TaskError,
    sink::TopicPartition,
    task::{
        ports::{Clock, ConsumedBatch, ConsumerEvent, RecordConsumer, TaskEvent, TaskObserver},
        sink_offsets::Positions,
        wait::{Streak, Timer},
    },
};
use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

/// How many events wait for a busy sink. One of them may be a batch of records, so this bounds memory too.
const WAITING_MAX: usize = 3;

/// How long a call into a sink may hold its thread without waiting before it is reported: other tasks stand still
/// meanwhile.
const BLOCKING_MAX: Duration = Duration::from_secs(1);

/// What came, and what comes next.
pub(super) struct Inbox {
    pub(super) consumer: Box<dyn RecordConsumer>,
    waiting: VecDeque<ConsumerEvent>,
    failed: Option<TaskError>,
    observer: Arc<dyn TaskObserver>,
    /// No more records are wanted.
    ends: bool,
    /// The sink's type, for messages.
    sink: &'static str,
    clock: Arc<dyn Clock>,
    /// Calls that held their thread.
    blocking: Streak,
}

impl Inbox {
    pub(super) fn new(
        consumer: Box<dyn RecordConsumer>,
        sink: &'static str,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn TaskObserver>,
    ) -> Self {
        Self {
            consumer,
            waiting: VecDeque::new(),
            failed: None,
            observer,
            ends: false,
            sink,
            clock,
            blocking: Streak::default(),
        }
    }

    /// The next event.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<ConsumerEvent, TaskError>> {
        if let Some(event) = self.take_waiting() {
            return Poll::Ready(Ok(event));
        }
        match self.failed.take() {
            Some(error) => Poll::Ready(Err(error)),
            None => self.consumer.poll_event(cx),
        }
    }

    /// True if partitions have been taken away, or all have, and nobody has acted upon it yet: nothing is put or asked.
    pub(super) fn has_loss(&self) -> bool {
        self.failed.is_some() || self.waiting.iter().any(takes)
    }

    /// The next event that waits already. What takes partitions away comes first, and takes their records along.
    pub(super) fn take_waiting(&mut self) -> Option<ConsumerEvent> {
        let event = self.waiting.remove(self.waiting.iter().position(takes).unwrap_or(0))?;
        if let ConsumerEvent::Revoked(gone) | ConsumerEvent::Lost(gone) = &event {
            self.drop_records_of(|p| gone.iter().any(|g| **g == *p));
        }
        Some(event)
    }

    /// Runs a call into the sink to its end, and meanwhile takes what the consumer has to say: so a rebalance during a
    /// slow call is known, and reported, at once. It is acted upon when the call has ended; the consumer's own deadline
    /// bounds that.
    pub(super) async fn during<T>(&mut self, call: &'static str, mut future: impl Future<Output = T> + Unpin) -> T {
        poll_fn(move |cx| {
            let before = self.clock.monotonic();
            let polled = Pin::new(&mut future).poll(cx);
            let blocked = self.report_blocking(call, before);
            if polled.is_pending() || blocked {
                self.collect(call, cx);
            }
            polled
        })
        .await
    }

    /// Reports a call that has held its thread since `before`, if that was long; true if it was.
    fn report_blocking(&mut self, call: &'static str, before: Duration) -> bool {
        let took = self.clock.monotonic().saturating_sub(before);
        if took >= BLOCKING_MAX && self.blocking.add() {
            self.observer.event(TaskEvent::Warning(format!(
                "`{call}` of `{}` held its thread for {} ms without waiting ({} times so far); blocking calls belong into \
                 `spawn_blocking`",
                self.sink,
                took.as_millis(),
                self.blocking.n()
            )));
        }
        took >= BLOCKING_MAX
    }

    /// Takes what the consumer has to say now, without waiting for more.
    pub(super) fn look(&mut self) {
        self.collect("close", &mut Context::from_waker(Waker::noop()));
    }

    /// From now on records are dropped: the task ends.
    pub(super) fn end(&mut self) {
        self.ends = true;
        self.waiting.retain(|event| !matches!(event, ConsumerEvent::Records(_)));
    }

    /// Waits for the result of a commit, while other events wait. `None` if it does not come before the timer, or not at
    /// all.
    pub(super) async fn commit_result(&mut self, mut timer: Timer) -> Option<(u64, Result<(), TaskError>)> {
        poll_fn(|cx| {
            loop {
                let at = self.waiting.iter().position(|event| matches!(event, ConsumerEvent::Committed { .. }));
                if let Some(ConsumerEvent::Committed { number, result }) = at.and_then(|at| self.waiting.remove(at)) {
                    return Poll::Ready(Some((number, result)));
                }
                if self.failed.is_some() || self.waiting.len() >= WAITING_MAX {
                    return Poll::Ready(None);
                }
                match self.consumer.poll_event(cx) {
                    Poll::Pending => return timer.poll(cx).map(|()| None),
                    Poll::Ready(Err(error)) => self.failed = Some(error),
                    Poll::Ready(Ok(event)) => self.keep(event),
                }
            }
        })
        .await
    }

    /// Takes what the consumer has to say while the task waits for something else. True if there is something that
    /// cannot wait: a partition that comes or goes, or a failure.
    pub(super) fn collect_urgent(&mut self, cx: &mut Context<'_>) -> bool {
        self.collect("dead letter queue", cx);
        let is_urgent = |e: &ConsumerEvent| {
            matches!(e, ConsumerEvent::Assigned(_) | ConsumerEvent::Revoked(_) | ConsumerEvent::Lost(_))
        };
        self.failed.is_some() || self.waiting.iter().any(is_urgent)
    }

    fn keep(&mut self, event: ConsumerEvent) {
        if !(self.ends && matches!(event, ConsumerEvent::Records(_))) {
            self.waiting.push_back(event);
        }
    }

    fn collect(&mut self, call: &'static str, cx: &mut Context<'_>) {
        // Whoever waits for a reply says nothing more before it has it.
        let awaits_reply = |e: &ConsumerEvent| matches!(e, ConsumerEvent::Revoked(_) | ConsumerEvent::Assigned(_));
        while self.failed.is_none() && self.waiting.len() < WAITING_MAX && !self.waiting.iter().any(awaits_reply) {
            match self.consumer.poll_event(cx) {
                Poll::Pending => return,
                Poll::Ready(Err(error)) => self.failed = Some(error),
                Poll::Ready(Ok(event)) => {
                    if let ConsumerEvent::Revoked(partitions) = &event {
                        let text = format!(
                            "partitions are revoked during `{call}`, they are given up after it: {}",
                            list(partitions)
                        );
                        self.observer.event(TaskEvent::Info(text));
                    }
                    self.keep(event);
                }
            }
        }
    }

    /// True if the consumer has said that the partition is lost, and nobody has acted upon it yet.
    pub(super) fn is_lost(&self, partition: &TopicPartition) -> bool {
        self.waiting.iter().any(|e| matches!(e, ConsumerEvent::Lost(gone) if gone.iter().any(|p| **p == *partition)))
    }

    /// Reads partitions from other offsets; records of them that wait here are dropped.
    pub(super) fn seek(&mut self, to: Positions) {
        self.drop_records_of(|p| to.iter().any(|(s, _)| **s == *p));
        self.consumer.seek(to);
    }

    fn drop_records_of(&mut self, gone: impl Fn(&TopicPartition) -> bool) {
        for event in &mut self.waiting {
            if let ConsumerEvent::Records(batch) = event {
                drop_records(batch, &gone);
            }
        }
    }
}

/// True if the event takes partitions away.
fn takes(event: &ConsumerEvent) -> bool {
    matches!(event, ConsumerEvent::Revoked(_) | ConsumerEvent::Lost(_))
}

/// Takes the records of some partitions out of a batch.
fn drop_records(batch: &mut ConsumedBatch, gone: impl Fn(&TopicPartition) -> bool) {
    let gone: Vec<bool> = batch.partitions.iter().map(|p| gone(p)).collect();
    if !gone.contains(&true) {
        return;
    }
    batch.records.retain(|record| !gone[record.partition as usize]);
    for (position, _) in batch.positions.iter_mut().zip(&gone).filter(|(_, gone)| **gone) {
        // A position that changes nothing: none is ever below it.
        *position = i64::MIN;
    }
}

/// Partitions as a text.
pub(super) fn list(partitions: &[Arc<TopicPartition>]) -> String {
    partitions.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", ")
}
