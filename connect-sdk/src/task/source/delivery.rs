//! From one poll to the producer: convert, make sure of the topics, refuse what is too large, hand over.

use super::{
    super::{
        convert::Converted,
        ports::{ProduceBatch, TaskEvent, TopicEnsurer, TopicLimits},
        submitted_records::{Resolved, Runs, Submission},
        wait::{Backoff, Streak},
    },
    Interrupt, LifeEnd, RETRY_DELAY_FIRST, SourceTask,
    errors::context,
    transactions::Transactions,
};
use crate::{
    data::Text,
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
        let conversion = self.convert(&mut records, &*offsets).await?;
        self.report_failed(&records, &*offsets, &conversion);
        let Converted { mut batch, mut runs, filtered, failed, n_letters, failure } = conversion.finish(&mut records);
        let mut failure = failure.map(|error| self.tolerance.retries.ended(error));
        self.observer.records_in(u64::from(runs.n_sent()) - n_letters + filtered + failed.len() as u64, n_bytes);
        self.report_skipped(filtered, &failed, failure.is_some(), n_letters);
        // Buffers that nothing refers to are used again.
        source.reuse_buffer(records.spent_buffer());
        let wrote = !batch.buffers[1].is_empty();
        if !wrote {
            self.spare = std::mem::take(&mut batch.buffers[1]);
        }

        if let Some((topic, error)) = self.ensure_topics(&batch).await? {
            let first = batch.records.iter().position(|r| r.topic == topic).unwrap_or(0);
            cut(&mut batch, &mut runs, first);
            failure = Some(error);
        }
        if let Some(error) = self.check_sizes(&mut batch, &mut runs, &*offsets) {
            failure = Some(error);
        }
        if !runs.is_empty() {
            let (n, bytes) = (batch.records.len() as u64, batch.n_bytes());
            // What is handed over now is no part of a transaction that is being ended.
            self.step(|s, _| if s.transaction_is_ending() { Poll::Pending } else { Poll::Ready(()) }).await?;
            if n > 0 {
                batch.first_seq = self.records.next_seq();
                self.letters_handed_over(&batch);
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
        for (index, topic) in (0..).zip(&batch.topics) {
            // A topic of skipped records only is not made.
            if self.known_topics.contains_key(topic) || !batch.records.iter().any(|r| r.topic == index) {
                continue;
            }
            match self.ensure_topic(self.topics.clone(), topic).await? {
                Ok(limits) => self.known_topics.insert(topic.clone(), limits.record_bytes_max),
                Err(error) => return Ok(Some((index, error))),
            };
        }
        Ok(None)
    }

    /// Makes sure of one topic, for as long as it takes; the inner error is a fatal one.
    pub(super) async fn ensure_topic(
        &mut self,
        topics: Arc<dyn TopicEnsurer>,
        topic: &Text,
    ) -> Result<Result<TopicLimits, TaskError>, Interrupt> {
        let mut backoff = Backoff::new(RETRY_DELAY_FIRST, self.config.retry_delay_max);
        let mut failures = Streak::default();
        loop {
            let mut ensure = pin!(topics.ensure(topic));
            let (cause, after) = match self.step(|_, cx| ensure.as_mut().poll(cx)).await? {
                Ok(limits) => return Ok(Ok(limits)),
                Err(TaskError::Retriable { cause, after }) => (cause, after),
                Err(error) => return Ok(Err(context(&format!("topic `{topic}` cannot be used"), error))),
            };
            if failures.add() {
                self.observer.event(TaskEvent::Warning(format!(
                    "topic `{topic}` cannot be reached and is tried again ({} in a row): {cause}",
                    failures.n()
                )));
            }
            self.rest(after.unwrap_or_else(|| backoff.next_delay())).await?;
        }
    }
}

/// Ends the batch before the record at `index`.
pub(super) fn cut(batch: &mut ProduceBatch, runs: &mut Runs, index: usize) {
    batch.records.truncate(index);
    runs.cut(u32::try_from(index).unwrap_or(u32::MAX));
}
