//! Records that fail: tried again, reported, skipped, and put into the dead letter queue among the others.

use super::{
    super::{
        convert::Conversion,
        errors::{ErrorReporter, Failure, Retries, SourceLetters, TryAgain, offset_of, source_record},
        ports::{Ack, DeadLetterTopic, ProduceBatch, SkipReason, TaskEvent},
        submitted_records::Runs,
        wait::Streak,
    },
    Interrupt, LifeEnd, SourceTask,
    delivery::cut,
    errors::{Shared, context},
};
use crate::{
    error::TaskError,
    source::{OffsetColumn, RecordBatch},
};
use std::{collections::BTreeSet, sync::Arc};

/// What a task has for records that fail.
pub(super) struct Tolerance {
    pub(super) reporter: ErrorReporter,
    pub(super) retries: Retries,
    /// Records in a row that had to be converted again.
    pub(super) slow_conversions: Streak,
    /// The dead letter queue, and what is known of it.
    pub(super) topic: Option<DeadLetterTopic>,
    pub(super) letters: Option<SourceLetters>,
    /// The sequence numbers of dead letters that are under way.
    under_way: BTreeSet<u64>,
}

impl Tolerance {
    pub(super) fn new(
        reporter: ErrorReporter,
        retries: Retries,
        topic: Option<DeadLetterTopic>,
        letters: Option<SourceLetters>,
    ) -> Self {
        Self { reporter, retries, slow_conversions: Streak::default(), topic, letters, under_way: BTreeSet::new() }
    }

    /// Notes which of a batch's records are dead letters.
    fn handed_over(&mut self, batch: &ProduceBatch) {
        let Some(letters) = &self.letters else { return };
        let Some(topic) = batch.topics.iter().position(|t| *t == letters.topic) else { return };
        let seqs = (batch.first_seq..).zip(&batch.records);
        self.under_way.extend(seqs.filter(|(_, r)| r.topic as usize == topic).map(|(seq, _)| seq));
    }

    /// Forgets what is under way: another life repeats it.
    pub(super) fn forget(&mut self) {
        // The places in a batch mean nothing to the next one.
        self.retries.forget();
        self.under_way.clear();
    }

    /// How many dead letters are among these records; they are under way no longer.
    fn take(&mut self, first: u64, n: u32) -> u64 {
        if self.under_way.is_empty() {
            return 0;
        }
        let mut later = self.under_way.split_off(&first);
        let mut rest = later.split_off(&first.saturating_add(u64::from(n)));
        self.under_way.append(&mut rest);
        later.len() as u64
    }
}

impl SourceTask {
    /// Makes sure of the dead letter queue's topic, once, before the first record.
    pub(super) async fn ensure_dead_letter_topic(&mut self) -> Result<(), LifeEnd> {
        let Some(topic) = self.tolerance.topic.clone() else { return Ok(()) };
        if self.known_topics.contains_key(&topic.name) {
            return Ok(());
        }
        let limits = self.ensure_topic(topic.topics, &topic.name).await?.map_err(LifeEnd::Failed)?;
        self.known_topics.insert(topic.name, limits.record_bytes_max);
        Ok(())
    }

    /// Converts the records of a poll; those that may be taken later are waited for.
    pub(super) async fn convert(
        &mut self,
        records: &mut RecordBatch,
        offsets: &dyn OffsetColumn,
    ) -> Result<Conversion, Interrupt> {
        let mut conversion = self.converter.begin(records, std::mem::take(&mut self.spare));
        loop {
            let (retries, clock) = (&mut self.tolerance.retries, &self.clock);
            let again = self
                .converter
                .go_on(records, offsets, &mut conversion, |index| retries.next_delay(index, clock.monotonic()));
            let Some(TryAgain { after, error }) = again else { break };
            self.tolerance.reporter.retried();
            self.tolerance.reporter.tell();
            if self.tolerance.slow_conversions.add() {
                let text = format!("tried again in {} ms: {}", after.as_millis(), error.chain());
                self.observer.event(TaskEvent::Warning(text));
            }
            self.rest(after).await?;
        }
        self.tolerance.retries.forget();
        self.tolerance.slow_conversions.end();
        Ok(conversion)
    }

    /// Reports the records of a batch that failed.
    pub(super) fn report_failed(&mut self, records: &RecordBatch, offsets: &dyn OffsetColumn, conversion: &Conversion) {
        let reporter = &mut self.tolerance.reporter;
        for (index, failure) in conversion.failed() {
            reporter.failed(failure, || {
                let partition = &self.partitions[records.entries()[*index].slot as usize];
                source_record(records, *index, partition, offset_of(records.entries(), *index, offsets).as_ref())
            });
        }
    }

    /// Counts what a batch has lost on its way.
    pub(super) fn report_skipped(
        &mut self,
        filtered: u64,
        failed: &[(usize, Failure)],
        ends_batch: bool,
        n_letters: u64,
    ) {
        let reporter = &mut self.tolerance.reporter;
        reporter.skipped(SkipReason::Filtered, filtered, String::new);
        // The one that fails the task is not skipped.
        let n = failed.len() - usize::from(ends_batch).min(failed.len());
        if let Some((_, failure)) = failed.first() {
            reporter.skipped(SkipReason::Failed, n as u64, || format!("{failure}: {}", failure.chain()));
        }
        reporter.dead_letters(n_letters);
        reporter.tell();
    }

    /// Takes records out that are too large for their topic: alone if errors are tolerated, or into the dead letter
    /// queue, else with all behind it.
    pub(super) fn check_sizes(
        &mut self,
        batch: &mut ProduceBatch,
        runs: &mut Runs,
        offsets: &dyn OffsetColumn,
    ) -> Option<TaskError> {
        let limit = |topic| self.known_topics.get(topic).copied().unwrap_or(usize::MAX);
        let limits: Vec<usize> = batch.topics.iter().map(limit).collect();
        if limits.iter().all(|limit| batch.n_bytes() <= *limit) {
            return None;
        }
        let too_large: Vec<u32> = (0..)
            .zip(&batch.records)
            .filter(|(_, r)| batch.record_bytes(r) > limits[r.topic as usize])
            .map(|(i, _)| i)
            .collect();
        let mut skipped = Vec::new();
        for &seq in &too_large {
            let index = seq as usize;
            let record = &batch.records[index];
            let topic = batch.topics[record.topic as usize].clone();
            let is_letter = self.tolerance.letters.as_ref().is_some_and(|letters| letters.topic == topic);
            let error = TaskError::fatal(format!(
                "a record of {} bytes for topic `{topic}` is larger than its limit of {} bytes; raise both \
                 `max.message.bytes` of the topic and `producer.override.max.request.size` of the connector",
                batch.record_bytes(record),
                limits[record.topic as usize]
            ));
            if !self.config.errors.tolerate {
                cut(batch, runs, index);
                return Some(error);
            }
            let Some(letters) = &self.tolerance.letters else {
                skipped.push((seq, error));
                continue;
            };
            if !is_letter {
                let failure = Failure::too_large(error.to_string().into());
                self.tolerance.reporter.failed(&failure, String::new);
                self.tolerance.reporter.skipped(SkipReason::Refused, 1, || failure.chain());
                self.tolerance.reporter.dead_letters(1);
                let (slot, offset) = runs.at(seq);
                let offset = offset.map(|at| offsets.encode(at));
                let headers = letters.headers(&topic, slot, offset.as_ref(), &failure);
                letters.redirect(batch, index, headers);
            }
            let limit = self.known_topics.get(&letters.topic).copied().unwrap_or(usize::MAX);
            if !letters.fit(batch, index, limit) {
                let error = context(
                    &format!("a record does not fit into the dead letter queue topic `{}`", letters.topic),
                    error,
                );
                cut(batch, runs, index);
                return Some(error);
            }
        }
        self.skip_too_large(batch, runs, skipped);
        self.tolerance.reporter.tell();
        None
    }

    fn skip_too_large(&mut self, batch: &mut ProduceBatch, runs: &mut Runs, skipped: Vec<(u32, TaskError)>) {
        let seqs: Vec<u32> = skipped.iter().map(|(seq, _)| *seq).collect();
        runs.skip(&seqs);
        let (mut next, mut index) = (seqs.into_iter().peekable(), 0);
        batch.records.retain(|_| {
            index += 1;
            next.next_if_eq(&(index - 1)).is_none()
        });
        for (_, error) in skipped {
            let failure = Failure::too_large(error.to_string().into());
            self.tolerance.reporter.failed(&failure, String::new);
            self.tolerance.reporter.skipped(SkipReason::Refused, 1, || failure.chain());
        }
    }

    /// Notes that a batch is on its way.
    pub(super) fn letters_handed_over(&mut self, batch: &ProduceBatch) {
        self.tolerance.handed_over(batch);
    }

    /// Of a range of records that the broker has: how many are dead letters.
    pub(super) fn delivered_letters(&mut self, first: u64, n: u32) -> u64 {
        self.tolerance.take(first, n)
    }

    /// Records that the broker refused, though errors are tolerated: counted, and gone, for their bytes are not kept. A
    /// dead letter among them fails the task, for then the record is nowhere.
    pub(super) fn tolerate_refused(&mut self, refused: &Ack) -> Option<TaskError> {
        let Ack::Failed { first, n, error } = refused else { return None };
        let reporter = &mut self.tolerance.reporter;
        let failure = Failure::refused(Box::new(Shared(Arc::clone(error))));
        reporter.failed(&failure, String::new);
        if self.tolerance.take(*first, *n) > 0 {
            self.tolerance.reporter.dead_letters_failed(1);
            self.tolerance.reporter.tell();
            let words = "a record cannot be written to the dead letter queue, so the offset does not move past it";
            return Some(context(words, TaskError::fatal(Shared(Arc::clone(error)))));
        }
        self.tolerance.reporter.skipped(SkipReason::Refused, u64::from(*n), || failure.chain());
        self.tolerance.reporter.tell();
        None
    }
}
