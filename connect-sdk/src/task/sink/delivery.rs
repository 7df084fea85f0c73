//! Puts: of converted batches, of empty ones, and of those that failed before.

use super::{
    Life, SinkLoop,
    convert::{Stages, convert},
};
use crate::{
    error::{Result, TaskError},
    sink::{PutAction, PutCx, Rejected, SinkRecord, TopicPartition},
    task::{
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

impl SinkLoop {
    pub(super) async fn on_records(&mut self, batch: ConsumedBatch) -> Result<()> {
        let mut records = std::mem::take(&mut self.spare);
        let bytes = batch.buffer.len() as u64;
        self.observer.records_in(batch.records.len() as u64, bytes);
        let (offsets, pauses) = (&self.offsets, &self.pauses);
        let mut stages =
            Stages { converters: &self.converters, chain: &mut self.chain, tolerant: self.config.tolerant };
        let into = &mut records;
        let converted =
            call("a converter or transformation", || convert(&batch, offsets, |p| pauses.holds(p), &mut stages, into))?;
        if !converted.missed.is_empty() {
            for partition in &converted.missed {
                self.pauses.has_strayed(partition);
            }
            // They were under way when the consumer was told, or it was told before it had taken the partitions.
            self.inbox.consumer.pause(converted.missed);
        }
        if converted.filtered > 0 {
            self.observer.skipped(SkipReason::Filtered, converted.filtered);
        }
        if let Some((n, first)) = &converted.skipped {
            self.observer.skipped(SkipReason::Failed, *n);
            if self.tells_skips() {
                self.warn(format!(
                    "{n} records were skipped because they cannot be converted; the first: {}",
                    first.chain()
                ));
            }
        }
        let Some(progress) = Some(converted.progress).filter(|p| !p.is_empty()) else {
            // Nothing of this batch can be put now.
            return converted.failure.map_or(Ok(()), Err);
        };
        self.put(Delivery { records, progress, bytes, failure: converted.failure, at: Duration::ZERO }).await
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
        let mut cx = PutCx::new(self.config.tolerant);
        let n = delivery.records.len() as u64;
        let records = &mut delivery.records;
        let put = guard("put", || sink.put(records, &mut cx));
        let result = self.inbox.during("put", put).await;
        let now = self.clock.monotonic();
        match result {
            Ok(()) => {
                self.next_put = now.saturating_add(self.config.offset_flush_interval);
                self.accepted(delivery, n, lends, cx)
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
            Err(error) => Err(error),
        }
    }

    fn accepted(&mut self, mut delivery: Delivery, n: u64, lends: bool, cx: PutCx) -> Result<()> {
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
        let (rejected, actions) = cx.into_requests();
        self.report(&rejected);
        for action in actions {
            self.act(action);
        }
        self.tell_pauses();
        delivery.failure.map_or(Ok(()), Err)
    }

    /// True if skipped records of a batch are to be reported.
    fn tells_skips(&mut self) -> bool {
        self.skips.add() || self.config.log_errors
    }

    fn report(&mut self, rejected: &[Rejected]) {
        let Some(first) = rejected.first() else { return };
        self.observer.skipped(SkipReason::Rejected, rejected.len() as u64);
        if !self.tells_skips() {
            return;
        }
        let at = &first.position;
        self.warn(format!(
            "the sink rejected {} records; the first: `{}-{}@{}`: {}",
            rejected.len(),
            at.topic(),
            at.partition(),
            at.offset(),
            first.cause
        ));
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
