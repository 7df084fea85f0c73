//! Puts: of converted batches, of empty ones, and of those that failed before.

use super::{
    Life, SinkLoop,
    convert::{Conversion, Stages},
    dead_letters::Letter,
};
use crate::{
    error::{Result, SharedCause, TaskError},
    sink::{OriginalRecord, PutAction, PutCx, Rejected, SinkRecord, TopicPartition, rejection},
    task::{
        errors::{Failure, TryAgain},
        guard::{call, guard},
        ports::{ConsumedBatch, SkipReason},
        sink_offsets::Positions,
    },
};
use std::{sync::Arc, time::Duration};

/// One batch on its way into the sink.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    pub(super) records: Vec<SinkRecord>,
    /// How far the task is once it is put.
    progress: Positions,
    bytes: u64,
    /// Why the task fails once it is put: the record after its last one cannot be converted.
    failure: Option<TaskError>,
    /// When it is put again, after a put that failed.
    pub(super) at: Duration,
}

impl Delivery {
    pub(super) fn empty() -> Self {
        Self::default()
    }

    /// Takes the records of partitions out that are given up: they belong to another task now.
    pub(super) fn forget(&mut self, partitions: &[Arc<TopicPartition>]) {
        let is_gone = |topic: &str, number: i32| partitions.iter().any(|p| p.partition == number && *p.topic == *topic);
        self.records.retain(|r| !is_gone(r.topic(), r.partition()));
        self.progress.retain(|(p, _)| !partitions.contains(p));
    }
}

/// A batch whose conversion goes on at a later time.
#[derive(Debug)]
pub(super) struct Converting {
    pub(super) conversion: Conversion,
    pub(super) at: Duration,
}

impl SinkLoop {
    pub(super) async fn on_records(&mut self, batch: ConsumedBatch) -> Result<()> {
        self.observer.records_in(batch.records.len() as u64, batch.buffer.len() as u64);
        let spare = std::mem::take(&mut self.spare);
        let (conversion, missed) = Conversion::new(batch, &self.offsets, |p| self.pauses.holds(p), spare);
        if !missed.is_empty() {
            for partition in &missed {
                self.pauses.has_strayed(partition);
            }
            // They were under way when the consumer was told, or it was told before it had taken the partitions.
            self.inbox.consumer.pause(missed);
        }
        if conversion.partitions().next().is_none() {
            // Nothing of this batch can be put now.
            return Ok(());
        }
        self.convert(conversion).await
    }

    /// Goes on with the batch whose record was to be tried again.
    pub(super) async fn convert_again(&mut self) -> Result<()> {
        match self.converting.take() {
            Some(Converting { conversion, .. }) => self.convert(conversion).await,
            None => Ok(()),
        }
    }

    fn convert_later(&mut self, conversion: Conversion, after: Duration) {
        let at = self.clock.monotonic().saturating_add(after);
        self.converting = Some(Converting { conversion, at });
        self.tell_pauses();
    }

    /// Converts a batch, or the rest of one, and puts it.
    async fn convert(&mut self, mut conversion: Conversion) -> Result<()> {
        // One batch's dead letters at a time: that bounds them.
        if !self.dead_letters_are_durable().await? {
            self.convert_later(conversion, Duration::ZERO);
            return Ok(());
        }
        let mut stages = Stages {
            converters: &self.converters,
            chain: &mut self.chain,
            tolerant: self.config.errors.tolerate,
            keep_original: self.dead_letters.is_some(),
        };
        let (offsets, retries, clock) = (&self.offsets, &mut self.retries, &self.clock);
        let step = || conversion.go_on(&mut stages, offsets, |index| retries.next_delay(index, clock.monotonic()));
        if let Some(TryAgain { after, error }) = call("a converter or transformation", step)? {
            self.errors.retried();
            self.errors.tell();
            if self.slow_conversions.add() {
                self.warn(format!("tried again in {} ms: {}", after.as_millis(), error.chain()));
            }
            self.convert_later(conversion, after);
            return Ok(());
        }
        self.retries.forget();
        self.slow_conversions.end();
        if conversion.filtered > 0 {
            self.errors.skipped(SkipReason::Filtered, conversion.filtered, String::new);
        }
        let progress = conversion.progress();
        let sent = self.report_failed(&conversion).await;
        let bytes = conversion.batch().buffer.len() as u64;
        let Conversion { records, failure, .. } = conversion;
        // What the queue did not take holds the offset back.
        let failure = failure.map(|error| self.retries.ended(error)).or(sent.err());
        if progress.is_empty() {
            // All its partitions were taken away while it waited: nothing is put that would resume the others.
            self.tell_pauses();
            return failure.map_or(Ok(()), Err);
        }
        self.put(Delivery { records, progress, bytes, failure, at: Duration::ZERO }).await
    }

    /// Reports the records of a batch that failed, and hands them to the dead letter queue.
    async fn report_failed(&mut self, conversion: &Conversion) -> Result<()> {
        let batch = conversion.batch();
        for (index, failure) in &conversion.failed {
            let record = &batch.records[*index as usize];
            let partition = &batch.partitions[record.partition as usize];
            self.errors.failed(failure, || consumed(partition, record.offset, record.timestamp));
        }
        // The one that fails the task is not skipped.
        let n = conversion.failed.len() - usize::from(conversion.failure.is_some()).min(conversion.failed.len());
        if let Some((index, failure)) = conversion.failed.first() {
            let record = &batch.records[*index as usize];
            let partition = &batch.partitions[record.partition as usize];
            self.errors.skipped(SkipReason::Failed, n as u64, || {
                format!("`{partition}@{}`: {failure}: {}", record.offset, failure.chain())
            });
        }
        let letters = conversion.failed.iter().map(|(index, failure)| Letter {
            original: OriginalRecord { batch: Arc::clone(batch), index: *index },
            failure,
        });
        let sent = self.send_dead_letters(letters.collect()).await;
        self.errors.tell();
        sent
    }

    pub(super) async fn put_again(&mut self) -> Result<()> {
        match self.again.take() {
            Some(delivery) => self.put(delivery).await,
            None => Ok(()),
        }
    }

    /// Puts a batch. If the sink asks for patience, a lent batch is kept for the next try; of a sink that took its
    /// records another life is begun.
    pub(super) async fn put(&mut self, mut delivery: Delivery) -> Result<()> {
        let Life::Open(sink) = &mut self.life else { return Ok(()) };
        let lends = sink.lends();
        let mut cx = PutCx::new(self.config.errors.tolerate);
        let n = delivery.records.len() as u64;
        let records = &mut delivery.records;
        let put = guard("put", || sink.put(records, &mut cx));
        let result = self.inbox.during("put", put).await;
        let now = self.clock.monotonic();
        match result {
            Ok(()) => {
                self.next_put = now.saturating_add(self.config.offset_flush_interval);
                self.accepted(delivery, n, lends, cx).await
            }
            Err(error) if error.is_retriable() && lends => {
                let text = error.chain();
                delivery.at = self.trouble.failed("put", error, now)?;
                let delay = delivery.at.saturating_sub(now).as_millis();
                if self.trouble.is_worth_telling() {
                    self.warn(format!("`put` failed; the same {n} records are put again in {delay} ms: {text}"));
                }
                self.again = Some(delivery);
                self.tell_pauses();
                Ok(())
            }
            Err(error) if error.is_retriable() => self.reopen("put", error),
            Err(error) if !self.config.errors.tolerate => {
                // As in Kafka, the record that fails the task is in the dead letter queue.
                let told = self.on_rejected(cx.into_requests().0).await;
                if let Err(other) = told
                    && other.chain() != error.chain()
                {
                    self.warn(other.chain());
                }
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    async fn accepted(&mut self, mut delivery: Delivery, n: u64, lends: bool, cx: PutCx) -> Result<()> {
        let (rejected, actions) = cx.into_requests();
        // Before anything of this put counts: an offset never moves past a record that is nowhere.
        self.on_rejected(rejected).await?;
        delivery.records.clear();
        if delivery.records.capacity() > self.spare.capacity() {
            self.spare = delivery.records;
        }
        for (partition, position) in &delivery.progress {
            self.offsets.delivered(partition, *position);
        }
        if lends {
            // What a direct sink has put is written: that is progress. A buffered one shows it in `pre_commit`.
            self.trouble.over();
        }
        self.observer.records_out(n, delivery.bytes);
        for action in actions {
            self.act(action);
        }
        self.tell_pauses();
        delivery.failure.map_or(Ok(()), Err)
    }

    /// Reports the records that the sink has rejected, and hands them to the dead letter queue.
    ///
    /// # Errors
    /// The rejection itself, if no errors are tolerated; and what keeps the queue from taking them.
    async fn on_rejected(&mut self, rejected: Vec<Rejected>) -> Result<()> {
        if rejected.is_empty() {
            return Ok(());
        }
        let mut failures = Vec::with_capacity(rejected.len());
        let mut fatal = None;
        for Rejected { position, cause, timestamp, original } in rejected {
            let cause = SharedCause::new(cause);
            if !self.config.errors.tolerate {
                fatal.get_or_insert_with(|| rejection(&position, &cause));
            }
            let failure = Failure::rejected(Box::new(cause));
            self.errors.failed(&failure, || consumed(position.topic_partition(), position.offset(), timestamp));
            failures.push((position, failure, original));
        }
        if let (None, Some((at, failure, _))) = (&fatal, failures.first()) {
            self.errors.skipped(SkipReason::Rejected, failures.len() as u64, || {
                format!("`{}@{}`: {}", at.topic_partition(), at.offset(), failure.chain())
            });
        }
        let letters =
            failures.iter().filter_map(|(_, failure, original)| Some(Letter { original: original.clone()?, failure }));
        let sent = self.send_dead_letters(letters.collect()).await;
        self.errors.tell();
        fatal.map_or(sent, Err)
    }

    fn act(&mut self, action: PutAction) {
        match action {
            PutAction::Pause(partitions) => {
                for partition in partitions {
                    let partition = Arc::new(partition);
                    if self.offsets.owns(&partition) {
                        self.pauses.sink_pauses(&partition);
                    } else {
                        self.warn(format!(
                            "the sink pauses `{partition}`, which is not assigned to this task; ignored"
                        ));
                    }
                }
            }
            PutAction::Resume(partitions) => partitions.iter().for_each(|p| self.pauses.sink_resumes(p)),
            PutAction::RequestCommit => self.commit_requested = true,
            PutAction::WakeAfter(delay) => {
                self.next_put = self.next_put.min(self.clock.monotonic().saturating_add(delay));
            }
        }
    }
}

/// A record in the words of Kafka's `LogReporter`.
fn consumed(partition: &TopicPartition, offset: i64, timestamp: Option<i64>) -> String {
    let timestamp = timestamp.map(|at| format!(", timestamp={at}")).unwrap_or_default();
    let TopicPartition { topic, partition } = partition;
    format!(", where consumed record is {{topic='{topic}', partition={partition}, offset={offset}{timestamp}}}")
}
