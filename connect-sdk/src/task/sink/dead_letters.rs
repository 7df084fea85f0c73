//! `DeadLetters`: a sink's dead letter queue. What it was given counts as done only when the broker has it.

use super::{SinkLoop, TargetState};
use crate::{
    error::{Result, TaskError},
    sink::{OriginalRecord, TopicPartition},
    task::{
        TaskInfo,
        errors::{ContextHeaders, ErrorReporter, Failure, Origin},
        ports::{Ack, DeadLetterTopic, ProduceBatch, ProduceRecord, RecordProducer, SinkDeadLetters, Slice, TaskEvent},
        sink_offsets::Positions,
        wait::{Backoff, Streak, Timer},
    },
};
use std::{
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

/// The first wait before a topic that could not be made sure of is asked for again.
const TOPIC_RETRY_DELAY_FIRST: Duration = Duration::from_millis(300);

/// A record for the queue.
pub(super) struct Letter<'a> {
    pub(super) original: OriginalRecord,
    pub(super) failure: &'a Failure,
}

/// The queue of one task.
pub(super) struct DeadLetters {
    topic: DeadLetterTopic,
    task: TaskInfo,
    producer: Box<dyn RecordProducer>,
    pub(super) record_bytes_max: usize,
    /// What the producer has not taken yet: the letters of one consumed batch, and of the put after it.
    waiting: VecDeque<ProduceBatch>,
    next_seq: u64,
    /// By sequence number: where the letters came from that the broker does not have yet, and may never have.
    pending: BTreeMap<u64, (Arc<TopicPartition>, i64)>,
    acks: Vec<Ack>,
    /// A letter cannot be written: nothing after it is sent.
    broken: Option<Broken>,
    /// Waited for in vain while partitions were closing: that is not done again before the broker answers.
    given_up: bool,
}

/// Why a queue takes nothing any more.
struct Broken {
    text: String,
    counted: bool,
}

impl DeadLetters {
    pub(super) fn new(port: SinkDeadLetters, task: TaskInfo) -> Self {
        let SinkDeadLetters { topic, producer } = port;
        Self {
            topic,
            task,
            producer,
            record_bytes_max: usize::MAX,
            waiting: VecDeque::new(),
            next_seq: 0,
            pending: BTreeMap::new(),
            acks: Vec::new(),
            broken: None,
            given_up: false,
        }
    }

    /// True if the broker has everything.
    pub(super) fn is_durable(&self) -> bool {
        self.pending.is_empty()
    }

    /// True if something may still come through.
    fn is_on_its_way(&self) -> bool {
        !self.pending.is_empty() && self.broken.is_none() && !self.given_up
    }

    /// Takes letters; [`Self::poll`] sends them. Those that are not sent hold their partitions back for ever.
    ///
    /// # Errors
    /// Fatal: one is larger than the topic takes, even without its longest header; or the queue was broken before.
    pub(super) fn add<'a>(&mut self, letters: impl IntoIterator<Item = Letter<'a>>) -> Result<()> {
        let mut buffer = self.producer.reclaim().unwrap_or_default();
        buffer.clear();
        let mut batch = ProduceBatch {
            first_seq: self.next_seq,
            buffers: [buffer, Vec::new()],
            topics: vec![self.topic.name.clone()],
            records: Vec::new(),
            headers: Vec::new(),
        };
        for Letter { original, failure } in letters {
            let OriginalRecord { batch: from, index } = original;
            let (record, partition) = {
                let record = &from.records[index as usize];
                (record, Arc::clone(&from.partitions[record.partition as usize]))
            };
            // Also of letters that are not sent: no offset moves past a record that is nowhere.
            self.pending.insert(self.next_seq, (Arc::clone(&partition), record.offset));
            self.next_seq += 1;
            if self.broken.is_some() {
                continue;
            }
            let first_header = batch.headers.len();
            let key = record.key.map(|at| Slice::write(0, &mut batch.buffers[0], &from.bytes(at)));
            let value = record.value.map(|at| Slice::write(0, &mut batch.buffers[0], &from.bytes(at)));
            let (first, n) = (record.headers.0 as usize, record.headers.1 as usize);
            for (name, value) in &from.headers[first..first + n] {
                let name = Slice::write(0, &mut batch.buffers[0], &from.bytes(*name));
                let value = value.map(|at| Slice::write(0, &mut batch.buffers[0], &from.bytes(at)));
                batch.headers.push((name, value));
            }
            if self.topic.context_headers {
                let origin =
                    Origin::Topic { topic: &partition.topic, partition: partition.partition, offset: record.offset };
                for (name, value) in ContextHeaders::new(&self.task, origin, failure).0 {
                    let name = Slice::write(0, &mut batch.buffers[0], name.as_bytes());
                    let value = value.map(|text| Slice::write(0, &mut batch.buffers[0], text.as_bytes()));
                    batch.headers.push((name, value));
                }
            }
            let mut letter = ProduceRecord {
                topic: 0,
                partition: None,
                timestamp: record.timestamp.filter(|at| *at >= 0),
                key,
                value,
                headers: place(first_header, batch.headers.len() - first_header),
            };
            if batch.record_bytes(&letter) > self.record_bytes_max && self.topic.context_headers {
                // The last one: the stack trace.
                batch.headers.pop();
                letter.headers.1 -= 1;
            }
            let n_bytes = batch.record_bytes(&letter);
            if n_bytes > self.record_bytes_max {
                let text = format!(
                    "record `{partition}@{}` failed ({}), and with its headers it has {n_bytes} bytes, more than the {} \
                     that the dead letter queue topic `{}` takes; raise `max.message.bytes` of that topic and \
                     `producer.override.max.request.size` of the connector",
                    record.offset,
                    failure.chain(),
                    self.record_bytes_max,
                    self.topic.name
                );
                self.broken = Some(Broken { text, counted: false });
                continue;
            }
            batch.records.push(letter);
        }
        if self.broken.is_none() && !batch.records.is_empty() {
            self.waiting.push_back(batch);
        }
        self.check()
    }

    fn check(&self) -> Result<()> {
        self.broken.as_ref().map_or(Ok(()), |broken| Err(TaskError::fatal(broken.text.clone())))
    }

    /// Counts the failure that broke the queue, once.
    pub(super) fn count_failure(&mut self, errors: &mut ErrorReporter) {
        if let Some(broken) = self.broken.as_mut().filter(|broken| !broken.counted) {
            broken.counted = true;
            errors.dead_letters_failed(1);
        }
    }

    /// Moves on; ready once the broker has everything.
    ///
    /// # Errors
    /// Fatal, each time: the broker or the producer refused a letter, or one was too large.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.check()?;
        let polled = self.poll_producer(cx);
        if let Poll::Ready(Err(error)) = &polled {
            self.broken = Some(Broken { text: error.chain(), counted: false });
        }
        polled
    }

    fn poll_producer(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(batch) = self.waiting.pop_front() {
            let mut batch = Some(batch);
            let sent = self.producer.poll_send(cx, &mut batch);
            if let Some(batch) = batch {
                self.waiting.push_front(batch);
            }
            match sent {
                Poll::Ready(result) => result.map_err(|error| self.lost(&error))?,
                Poll::Pending => break,
            }
            // A commit waits for them.
            self.producer.hurry();
        }
        while !self.pending.is_empty() {
            let polled = ready!(self.producer.poll_acks(cx, &mut self.acks));
            self.given_up = false;
            polled.map_err(|error| self.lost(&error))?;
            for ack in std::mem::take(&mut self.acks) {
                match ack {
                    Ack::Delivered { first, n } => {
                        let later = self.pending.split_off(&first.saturating_add(u64::from(n)));
                        let _delivered = self.pending.split_off(&first);
                        self.pending.extend(later);
                    }
                    Ack::Failed { error, .. } => return Poll::Ready(Err(self.lost(&error))),
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn lost(&self, error: &TaskError) -> TaskError {
        let topic = &self.topic.name;
        TaskError::fatal(format!(
            "records cannot be written to the dead letter queue topic `{topic}`, so the offset does not move past them: {}",
            error.chain()
        ))
    }

    /// Keeps offsets below the first record of their partition that the broker does not have yet.
    pub(super) fn cap(&self, offsets: &mut Positions) {
        for (partition, offset) in offsets {
            let first = self.pending.values().filter(|(p, _)| p == partition).map(|(_, at)| *at).min();
            *offset = first.map_or(*offset, |first| first.min(*offset));
        }
    }
}

/// Places fit: the letters of a batch are hardly larger than the batch, whose places have 32 bits, too.
fn place(start: usize, len: usize) -> (u32, u32) {
    (u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(len).unwrap_or(u32::MAX))
}

impl SinkLoop {
    /// Makes sure of the dead letter queue's topic before the first record; false if the task is to be stopped.
    pub(super) async fn ensure_dead_letter_topic(&mut self) -> Result<bool> {
        let Some(letters) = &mut self.dead_letters else { return Ok(true) };
        let (topic, mut failures) = (letters.topic.clone(), Streak::default());
        let mut backoff = Backoff::new(TOPIC_RETRY_DELAY_FIRST, self.config.errors.retry_delay_max);
        loop {
            let mut ensure = pin!(topic.topics.ensure(&topic.name));
            let Some(ensured) = self.unless_stopped(|cx| ensure.as_mut().poll(cx)).await else { return Ok(false) };
            let (cause, after) = match ensured {
                Ok(limits) => {
                    if let Some(letters) = &mut self.dead_letters {
                        letters.record_bytes_max = limits.record_bytes_max;
                    }
                    return Ok(true);
                }
                Err(TaskError::Retriable { cause, after }) => (cause, after),
                Err(error) => return Err(error),
            };
            if failures.add() {
                self.warn(format!(
                    "the dead letter queue topic `{}` cannot be reached and is tried again ({} in a row): {cause}",
                    topic.name,
                    failures.n()
                ));
            }
            let mut timer = Timer::new(Arc::clone(&self.clock));
            timer.set(after.unwrap_or_else(|| backoff.next_delay()));
            if self.unless_stopped(|cx| timer.poll(cx)).await.is_none() {
                return Ok(false);
            }
        }
    }

    /// Waits before the task serves its consumer; nothing if it is to be stopped.
    async fn unless_stopped<T>(&mut self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Option<T> {
        poll_fn(|cx| {
            while let Poll::Ready(target) = self.commands.poll_change(cx, self.target) {
                self.target = target;
                if target == TargetState::Stopped {
                    return Poll::Ready(None);
                }
            }
            poll(cx).map(Some)
        })
        .await
    }

    /// Hands letters to the queue.
    ///
    /// # Errors
    /// As [`DeadLetters::add`] and [`DeadLetters::poll`].
    pub(super) async fn send_dead_letters(&mut self, letters: Vec<Letter<'_>>) -> Result<()> {
        let Some(queue) = &mut self.dead_letters else { return Ok(()) };
        if letters.is_empty() {
            return Ok(());
        }
        self.errors.dead_letters(letters.len() as u64);
        let added = queue.add(letters);
        // Sent now, while the sink writes what is good.
        let sent = poll_fn(|cx| {
            Poll::Ready(match queue.poll(cx) {
                Poll::Ready(Err(error)) => Err(error),
                _ => Ok(()),
            })
        })
        .await;
        let result = added.and(sent);
        queue.count_failure(&mut self.errors);
        result
    }

    /// Waits until the broker has all dead letters. False if something comes first that cannot wait: another wish of
    /// the herder, or a partition that comes or goes. It is served by the loop.
    pub(super) async fn dead_letters_are_durable(&mut self) -> Result<bool> {
        if self.dead_letters.as_ref().is_none_or(DeadLetters::is_durable) {
            return Ok(true);
        }
        let Self { dead_letters, inbox, commands, target, .. } = self;
        let durable = poll_fn(|cx| {
            let polled = dead_letters.as_mut().map_or(Poll::Ready(Ok(())), |letters| letters.poll(cx));
            if let Poll::Ready(result) = polled {
                return Poll::Ready(result.map(|()| true));
            }
            if commands.poll_change(cx, *target).is_ready() || inbox.collect_urgent(cx) {
                return Poll::Ready(Ok(false));
            }
            Poll::Pending
        })
        .await;
        if let Some(letters) = &mut self.dead_letters {
            letters.count_failure(&mut self.errors);
        }
        durable
    }

    /// As [`Self::dead_letters_are_durable`], for at most `limit`, once, and whatever else comes: partitions are closing.
    /// What the broker does not have then holds the last commit back.
    pub(super) async fn await_dead_letters(&mut self, limit: Duration) -> Result<()> {
        let Some(letters) = self.dead_letters.as_mut().filter(|letters| letters.is_on_its_way()) else { return Ok(()) };
        let mut timer = Timer::new(Arc::clone(&self.clock));
        timer.set(limit);
        let inbox = &mut self.inbox;
        let result = poll_fn(|cx| {
            if let Poll::Ready(result) = letters.poll(cx) {
                return Poll::Ready(result.map(|()| true));
            }
            let _urgent = inbox.collect_urgent(cx);
            timer.poll(cx).map(|()| Ok(false))
        })
        .await;
        match result {
            Ok(true) => Ok(()),
            Ok(false) => {
                letters.given_up = true;
                let text = format!(
                    "the dead letter queue has not taken everything within {} ms; what it did not take is delivered again",
                    limit.as_millis()
                );
                self.observer.event(TaskEvent::Warning(text));
                Ok(())
            }
            Err(error) => {
                letters.count_failure(&mut self.errors);
                Err(error)
            }
        }
    }

    /// Keeps offsets below what the dead letter queue does not have yet.
    pub(super) fn cap_at_dead_letters(&self, offsets: &mut Positions) {
        if let Some(letters) = &self.dead_letters {
            letters.cap(offsets);
        }
    }
}
