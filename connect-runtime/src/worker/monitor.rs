//! What a task does and has done: its state, its counters, its log lines.

use crate::{config::Guarantee, id::ConnectorTaskId, status::State};
use connect_sdk::task::ports::{ErrorCounts, SkipReason, TaskEvent, TaskObserver};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Watches one task, over all its lives.
#[derive(Debug)]
pub(crate) struct TaskMonitor {
    id: ConnectorTaskId,
    guarantee: Arc<Guarantee>,
    state: Mutex<State>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    records_in: AtomicU64,
    bytes_in: AtomicU64,
    records_out: AtomicU64,
    bytes_out: AtomicU64,
    filtered: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
    rejected: AtomicU64,
    failures: AtomicU64,
    retries: AtomicU64,
    errors_logged: AtomicU64,
    dead_letters: AtomicU64,
    dead_letter_failures: AtomicU64,
    commits: AtomicU64,
    commit_failures: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Records that were polled (source) or consumed (sink), and their bytes.
    pub(crate) records_in: u64,
    pub(crate) bytes_in: u64,
    /// Records that were acknowledged (source) or put (sink), and their bytes.
    pub(crate) records_out: u64,
    pub(crate) bytes_out: u64,
    /// Records that were not passed on, by reason.
    pub(crate) filtered: u64,
    pub(crate) failed: u64,
    pub(crate) refused: u64,
    pub(crate) rejected: u64,
    /// What error handling has done with records that failed.
    pub(crate) errors: ErrorCounts,
    /// Times that offsets were stored, or not.
    pub(crate) commits: u64,
    pub(crate) commit_failures: u64,
}

impl Totals {
    /// Records that were not passed on, for whatever reason.
    pub(crate) fn skipped(&self) -> u64 {
        self.filtered + self.failed + self.refused + self.rejected
    }
}

impl TaskMonitor {
    pub(crate) fn new(id: ConnectorTaskId, guarantee: Arc<Guarantee>) -> Self {
        Self { id, guarantee, state: Mutex::new(State::Unassigned), counts: Counts::default() }
    }

    pub(crate) fn id(&self) -> &ConnectorTaskId {
        &self.id
    }

    /// What the connector guarantees.
    pub(crate) fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    pub(crate) fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a new state, and logs it if it is one.
    pub(crate) fn set_state(&self, new: State) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == new {
            return;
        }
        match &new {
            State::Failed(trace) => {
                tracing::error!(connector = %self.id.connector, task = self.id.task, error = %trace, "task failed; it stays FAILED until it is restarted");
            }
            other => tracing::info!(connector = %self.id.connector, task = self.id.task, state = %other, "task"),
        }
        *state = new;
    }

    pub(crate) fn totals(&self) -> Totals {
        let c = &self.counts;
        Totals {
            records_in: c.records_in.load(Relaxed),
            bytes_in: c.bytes_in.load(Relaxed),
            records_out: c.records_out.load(Relaxed),
            bytes_out: c.bytes_out.load(Relaxed),
            filtered: c.filtered.load(Relaxed),
            failed: c.failed.load(Relaxed),
            refused: c.refused.load(Relaxed),
            rejected: c.rejected.load(Relaxed),
            errors: ErrorCounts {
                failures: c.failures.load(Relaxed),
                retries: c.retries.load(Relaxed),
                logged: c.errors_logged.load(Relaxed),
                dead_letters: c.dead_letters.load(Relaxed),
                dead_letter_failures: c.dead_letter_failures.load(Relaxed),
            },
            commits: c.commits.load(Relaxed),
            commit_failures: c.commit_failures.load(Relaxed),
        }
    }

    /// Logs what the task has done, with every skipped record by reason; called when it ends.
    pub(crate) fn log_totals(&self) {
        let t = self.totals();
        tracing::info!(
            connector = %self.id.connector,
            task = self.id.task,
            records_in = t.records_in,
            records_out = t.records_out,
            filtered = t.filtered,
            failed = t.failed,
            refused = t.refused,
            rejected = t.rejected,
            dead_letters = t.errors.dead_letters,
            dead_letter_failures = t.errors.dead_letter_failures,
            record_failures = t.errors.failures,
            retries = t.errors.retries,
            errors_logged = t.errors.logged,
            offset_commits = t.commits,
            offset_commit_failures = t.commit_failures,
            "task ended"
        );
    }
}

impl TaskObserver for TaskMonitor {
    fn event(&self, event: TaskEvent) {
        match event {
            TaskEvent::Running => self.set_state(State::Running),
            TaskEvent::Paused => self.set_state(State::Paused),
            TaskEvent::Error(text) => tracing::error!(connector = %self.id.connector, task = self.id.task, "{text}"),
            TaskEvent::Warning(text) => tracing::warn!(connector = %self.id.connector, task = self.id.task, "{text}"),
            TaskEvent::Info(text) => tracing::info!(connector = %self.id.connector, task = self.id.task, "{text}"),
        }
    }

    fn records_in(&self, records: u64, bytes: u64) {
        self.counts.records_in.fetch_add(records, Relaxed);
        self.counts.bytes_in.fetch_add(bytes, Relaxed);
    }

    fn records_out(&self, records: u64, bytes: u64) {
        self.counts.records_out.fetch_add(records, Relaxed);
        self.counts.bytes_out.fetch_add(bytes, Relaxed);
    }

    fn skipped(&self, reason: SkipReason, records: u64) {
        let counter = match reason {
            SkipReason::Filtered => &self.counts.filtered,
            SkipReason::Failed => &self.counts.failed,
            SkipReason::Refused => &self.counts.refused,
            SkipReason::Rejected => &self.counts.rejected,
        };
        counter.fetch_add(records, Relaxed);
    }

    fn errors(&self, counts: ErrorCounts) {
        self.counts.failures.fetch_add(counts.failures, Relaxed);
        self.counts.retries.fetch_add(counts.retries, Relaxed);
        self.counts.errors_logged.fetch_add(counts.logged, Relaxed);
        self.counts.dead_letters.fetch_add(counts.dead_letters, Relaxed);
        self.counts.dead_letter_failures.fetch_add(counts.dead_letter_failures, Relaxed);
    }

    fn offsets_committed(&self, ok: bool) {
        let counter = if ok { &self.counts.commits } else { &self.counts.commit_failures };
        counter.fetch_add(1, Relaxed);
    }
}
