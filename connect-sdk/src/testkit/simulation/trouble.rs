//! `Trouble`: what goes wrong around the calls into a connector: delays, and errors that may be tried again.

use crate::{
    error::{Result, TaskError},
    task::ports::Clock,
    testkit::{Random, VirtualClock},
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The trouble of one world. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct Trouble {
    clock: VirtualClock,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    random: Random,
    delay_max: Duration,
    error_percent: usize,
}

impl Trouble {
    pub(super) fn new(clock: VirtualClock, seed: u64) -> Self {
        let state = State { random: Random::new(seed), delay_max: Duration::ZERO, error_percent: 0 };
        Self { clock, state: Arc::new(Mutex::new(state)) }
    }

    /// From now on each call is delayed by up to `delay_max`, and fails in `error_percent` of 100 cases.
    pub(super) fn set(&self, delay_max: Duration, error_percent: usize) {
        let mut state = self.lock();
        state.delay_max = delay_max;
        state.error_percent = error_percent;
    }

    /// What happens before a call.
    ///
    /// # Errors
    /// The call is not made, as if its target could not be reached.
    pub(super) async fn before(&self, call: &str) -> Result<()> {
        self.pass().await;
        self.maybe(&format!("`{call}` could not reach its target"))
    }

    /// What happens after a call that worked.
    ///
    /// # Errors
    /// The call has had its effect, but its answer was lost.
    pub(super) async fn after(&self, call: &str) -> Result<()> {
        self.pass().await;
        self.maybe(&format!("the answer of `{call}` was lost"))
    }

    /// The delay alone.
    pub(super) async fn pass(&self) {
        let delay = {
            let mut state = self.lock();
            let max = usize::try_from(state.delay_max.as_micros()).unwrap_or(usize::MAX);
            Duration::from_micros(u64::try_from(state.random.below(max.saturating_add(1))).unwrap_or(0))
        };
        if !delay.is_zero() {
            self.clock.sleep_until(self.clock.now() + delay).await;
        }
    }

    fn maybe(&self, text: &str) -> Result<()> {
        let mut state = self.lock();
        let percent = state.error_percent;
        if state.random.chance(percent) { Err(TaskError::retriable(text.to_owned())) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
