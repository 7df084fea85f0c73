//! `ErrorReporter`: counts what fails and what is skipped, and says so in the log.

use super::{
    ErrorConfig, Failure,
    lines::{Digest, LineBudget},
};
use crate::task::{
    TaskInfo,
    ports::{Clock, ErrorCounts, SkipReason, TaskEvent, TaskObserver},
};
use std::sync::Arc;

/// What one task tells of its errors.
pub(crate) struct ErrorReporter {
    task: String,
    config: ErrorConfig,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn TaskObserver>,
    lines: LineBudget,
    digest: Digest,
    counts: ErrorCounts,
}

impl ErrorReporter {
    pub(crate) fn new(
        task: &TaskInfo,
        config: ErrorConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn TaskObserver>,
    ) -> Self {
        let (lines, digest, counts) = (LineBudget::default(), Digest::default(), ErrorCounts::default());
        Self { task: task.to_string(), config, clock, observer, lines, digest, counts }
    }

    /// A record has failed for good; `record` says which one, in the words of Kafka's `LogReporter`, and is called only
    /// if that is asked for.
    pub(crate) fn failed(&mut self, failure: &Failure, record: impl FnOnce() -> String) {
        self.counts.failures += 1;
        if !self.config.log || !self.lines.take(self.clock.monotonic()) {
            return;
        }
        self.counts.logged += 1;
        let record = if self.config.log_messages { record() } else { String::new() };
        let text = format!("Error encountered in task {}. {failure}{record}. {}", self.task, failure.trace());
        self.observer.event(TaskEvent::Error(text));
    }

    /// A step failed and is tried again after a wait.
    pub(crate) fn retried(&mut self) {
        self.counts.failures += 1;
        self.counts.retries += 1;
    }

    /// Records were handed to the dead letter queue.
    pub(crate) fn dead_letters(&mut self, n: u64) {
        self.counts.dead_letters += n;
    }

    /// The dead letter queue refused records.
    pub(crate) fn dead_letters_failed(&mut self, n: u64) {
        self.counts.dead_letter_failures += n;
    }

    /// Records were skipped; `first` says what was wrong with the first of them.
    pub(crate) fn skipped(&mut self, reason: SkipReason, n: u64, first: impl FnOnce() -> String) {
        if n > 0 {
            self.observer.skipped(reason, n);
            self.digest.add(reason, n, first);
        }
    }

    /// Tells what is due; called after each batch and at every flush of offsets.
    pub(crate) fn tell(&mut self) {
        let now = self.clock.monotonic();
        if let Some(n) = self.lines.left_out(now) {
            self.tell_left_out(n);
        }
        if let Some(line) = self.digest.line(now) {
            self.observer.event(TaskEvent::Warning(line));
        }
        self.tell_counts();
    }

    /// Tells what was not told; called when the task ends.
    pub(crate) fn end(&mut self) {
        if let Some(n) = self.lines.left_out_at_the_end() {
            self.tell_left_out(n);
        }
        if let Some(line) = self.digest.line_at_the_end(self.clock.monotonic()) {
            self.observer.event(TaskEvent::Warning(line));
        }
        self.tell_counts();
    }

    fn tell_counts(&mut self) {
        if self.counts != ErrorCounts::default() {
            self.observer.errors(std::mem::take(&mut self.counts));
        }
    }

    fn tell_left_out(&self, n: u64) {
        let text =
            format!("Error encountered in task {}: {n} more records failed than are logged one by one", self.task);
        self.observer.event(TaskEvent::Error(text));
    }
}
