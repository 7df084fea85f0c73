//! From one poll to the producer: convert, make sure of the topics, refuse what is too large, hand over.

use super::{
    super::{
        convert::Converted,
        ports::{ProduceBatch, SkipReason, TaskEvent},
        submitted_records::{Resolved, Runs, Submission},
        wait::{Backoff, Streak},
    },
    Interrupt, LifeEnd, RETRY_DELAY_FIRST, SourceTask,
    errors::context,
    transactions::Transactions,
};
use crate::{
    erased::{DynSource, Polled},
    error::TaskError,
    source::{Mark, OffsetColumn},
};
use std::{pin::pin, sync::Arc, task::Poll};

impl SourceTask {
    /// Converts what a poll gave and hands it to the producer; a transaction ends behind it where it shall.
    pub(super) async fn deliver(&mut self, source: &mut Box<dyn DynSource>, polled: Polled) -> Result<(), LifeEnd> {
        if self.transactions.as_ref().is_some_and(Transactions::follow_marks) {
            return self.deliver_to_marks(source, polled).await;
        }
        self.deliver_part(source, polled).await?;
        self.at_end_of_batch();
        Ok(())
    }

    /// Hands over in parts, each up to a mark of the connector.
    async fn deliver_to_marks(&mut self, source: &mut Box<dyn DynSource>, polled: Polled) -> Result<(), LifeEnd> {
        let Polled { mut records, offsets, mut acks, equal_offsets } = polled;
        let offsets: Arc<dyn OffsetColumn> = offsets.into();
        loop {
            let marked = records.entries().iter().position(|e| e.mark != Mark::None);
            let (n, mark) = marked.map_or((records.len(), Mark::None), |i| (i + 1, records.entries()[i].mark));
            let later = records.split_off(n);
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            let mut later_acks = acks.split_off(acks.partition_point(|(at, _)| *at < n));
            later_acks.iter_mut().for_each(|(at, _)| *at -= n);
            if !records.is_empty() {
                let part = Polled { records, offsets: Box::new(offsets.clone()), acks, equal_offsets };
                self.deliver_part(source, part).await?;
                self.at_mark(mark);
            }
            if later.is_empty() {
                return Ok(());
            }
            (records, acks) = (later, later_acks);
        }
    }

    async fn deliver_part(&mut self, source: &mut Box<dyn DynSource>, polled: Polled) -> Result<(), LifeEnd> {
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
            let (n, bytes) = (batch.records.len() as u64, batch.n_bytes());
            // What is handed over now is no part of a transaction that is being ended.
            self.step(|s, _| if s.transaction_is_ending() { Poll::Pending } else { Poll::Ready(()) }).await?;
            if n > 0 {
                batch.first_seq = self.records.next_seq();
                let mut batch = Some(batch);
                let sent = self.step(|s, cx| {
                    if s.transaction_is_ending() {
                        Poll::Pending
                    } else {
                        s.producer.records().poll_send(cx, &mut batch)
                    }
                });
                sent.await?.map_err(LifeEnd::Failed)?;
            }
            self.records.submit(Submission { runs, offsets, on_ack, bytes }, &mut self.due);
            match &mut self.transactions {
                Some(transactions) => {
                    transactions.handed_over(n, bytes as u64);
                    transactions.acknowledged(Resolved::default(), &mut self.due);
                }
                None => self.call_due(),
            }
        }
        while let Some(mut buffer) = self.producer.records().reclaim() {
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

    pub(super) fn report_skipped(&self, reason: SkipReason, n: u64, first: Option<&TaskError>) {
        if n == 0 {
            return;
        }
        self.observer.skipped(reason, n);
        if let Some(error) = first.filter(|_| self.config.log_errors) {
            self.observer
                .event(TaskEvent::Warning(format!("{n} records were skipped; the first one: {}", error.chain())));
        }
    }
}

/// Ends the batch before the record at `index`.
fn cut(batch: &mut ProduceBatch, runs: &mut Runs, index: usize) {
    batch.records.truncate(index);
    runs.cut(u32::try_from(index).unwrap_or(u32::MAX));
}
