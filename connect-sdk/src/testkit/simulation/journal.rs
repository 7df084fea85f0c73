//! `Journal`: the numbered steps of one run, and the first promise that was broken in it.

use crate::testkit::VirtualClock;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How many of the latest steps a message shows.
const SHOWN_STEPS: usize = 60;

/// What happened in a run. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct Journal {
    clock: VirtualClock,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    n_steps: u64,
    latest: VecDeque<String>,
    violation: Option<String>,
    /// Orders of events that are rare, and how often they were met.
    seen: BTreeMap<&'static str, u64>,
    /// Two runs with equal sums had the same steps.
    sum: u64,
}

impl Journal {
    pub(super) fn new(clock: VirtualClock) -> Self {
        Self { clock, state: Arc::default() }
    }

    /// Notes one step.
    pub(super) fn step(&self, text: impl Into<String>) {
        let mut state = self.lock();
        state.n_steps += 1;
        let line = format!("{:>6} {:>9.3} s  {}", state.n_steps, self.clock.now().as_secs_f64(), text.into());
        state.sum = line.bytes().fold(state.sum, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(b)));
        if state.latest.len() == SHOWN_STEPS {
            state.latest.pop_front();
        }
        state.latest.push_back(line);
    }

    /// Notes that a promise was broken. Only the first time counts: what follows from it would hide it.
    pub(super) fn violated(&self, text: impl Into<String>) {
        let mut state = self.lock();
        if state.violation.is_none() {
            let (text, step) = (text.into(), state.n_steps);
            let steps: String = state.latest.iter().map(|line| format!("\n{line}")).collect();
            state.violation = Some(format!("at step {step}: {text}\nthe latest steps:{steps}"));
        }
    }

    /// Notes a rare order of events.
    pub(super) fn saw(&self, what: &'static str) {
        *self.lock().seen.entry(what).or_default() += 1;
    }

    pub(super) fn is_violated(&self) -> bool {
        self.lock().violation.is_some()
    }

    pub(super) fn violation(&self) -> Option<String> {
        self.lock().violation.clone()
    }

    pub(super) fn seen(&self) -> BTreeMap<&'static str, u64> {
        self.lock().seen.clone()
    }

    pub(super) fn n_steps(&self) -> u64 {
        self.lock().n_steps
    }

    pub(super) fn sum(&self) -> u64 {
        self.lock().sum
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
