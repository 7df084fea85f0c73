//! `Wishes` and `Reports`: the two sides of a task that a test sees: what it is told to do, and what it tells.

use crate::task::ports::{Commands, ErrorCounts, SkipReason, TargetState, TaskEvent, TaskObserver};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// The wished state of a task, which a test changes. Clones are the same.
#[derive(Debug, Clone)]
pub struct Wishes {
    state: Arc<Mutex<(TargetState, Option<Waker>)>>,
}

impl Wishes {
    /// Starts with this wish.
    #[must_use]
    pub fn new(target: TargetState) -> Self {
        Self { state: Arc::new(Mutex::new((target, None))) }
    }

    /// Wishes another state.
    pub fn wish(&self, target: TargetState) {
        let mut state = lock(&self.state);
        state.0 = target;
        let waker = state.1.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Commands for Wishes {
    fn target(&self) -> TargetState {
        lock(&self.state).0
    }

    fn poll_change(&mut self, cx: &mut Context<'_>, seen: TargetState) -> Poll<TargetState> {
        let mut state = lock(&self.state);
        if state.0 != seen {
            return Poll::Ready(state.0);
        }
        state.1 = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// What a task has told. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Reports {
    state: Arc<Mutex<Told>>,
}

#[derive(Debug, Default)]
struct Told {
    events: Vec<TaskEvent>,
    records: (u64, u64),
    skipped: BTreeMap<String, u64>,
    errors: ErrorCounts,
    commits: (u64, u64),
}

impl Reports {
    /// Nothing was told.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All events so far.
    #[must_use]
    pub fn events(&self) -> Vec<TaskEvent> {
        lock(&self.state).events.clone()
    }

    /// The warnings so far, one a line.
    #[must_use]
    pub fn warnings(&self) -> String {
        let events = self.events();
        let texts =
            events.iter().filter_map(|e| if let TaskEvent::Warning(text) = e { Some(text.as_str()) } else { None });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// How many records came in, and how many went out.
    #[must_use]
    pub fn records(&self) -> (u64, u64) {
        lock(&self.state).records
    }

    /// How many records were skipped for this reason.
    #[must_use]
    pub fn skipped(&self, reason: SkipReason) -> u64 {
        lock(&self.state).skipped.get(&format!("{reason:?}")).copied().unwrap_or(0)
    }

    /// The error lines so far, one a line.
    #[must_use]
    pub fn error_lines(&self) -> String {
        let events = self.events();
        let texts =
            events.iter().filter_map(|e| if let TaskEvent::Error(text) = e { Some(text.as_str()) } else { None });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What error handling has done so far.
    #[must_use]
    pub fn errors(&self) -> ErrorCounts {
        lock(&self.state).errors
    }

    /// How many times offsets were stored or committed, and how many times that failed.
    #[must_use]
    pub fn commits(&self) -> (u64, u64) {
        lock(&self.state).commits
    }
}

impl TaskObserver for Reports {
    fn event(&self, event: TaskEvent) {
        lock(&self.state).events.push(event);
    }

    fn records_in(&self, records: u64, _bytes: u64) {
        lock(&self.state).records.0 += records;
    }

    fn records_out(&self, records: u64, _bytes: u64) {
        lock(&self.state).records.1 += records;
    }

    fn skipped(&self, reason: SkipReason, records: u64) {
        *lock(&self.state).skipped.entry(format!("{reason:?}")).or_default() += records;
    }

    fn errors(&self, counts: ErrorCounts) {
        let all = &mut lock(&self.state).errors;
        all.failures += counts.failures;
        all.retries += counts.retries;
        all.logged += counts.logged;
        all.dead_letters += counts.dead_letters;
        all.dead_letter_failures += counts.dead_letter_failures;
    }

    fn offsets_committed(&self, ok: bool) {
        let mut told = lock(&self.state);
        if ok { told.commits.0 += 1 } else { told.commits.1 += 1 }
    }
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
