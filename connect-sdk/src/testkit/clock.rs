//! `VirtualClock`: time that stands still until a test or an idle executor moves it.

use crate::{erased::BoxFuture, task::ports::Clock};
use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

/// Where virtual time starts, in milliseconds since 1970: 1 January 2024, 00:00 UTC.
const EPOCH_MS: i64 = 1_704_067_200_000;

/// A clock that a test moves. Clones are the same clock.
#[derive(Debug, Clone, Default)]
pub struct VirtualClock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    now: Duration,
    next_id: u64,
    /// By moment, and in order of creation within a moment.
    sleepers: BTreeMap<(Duration, u64), Option<Waker>>,
}

impl VirtualClock {
    /// A clock at its start.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Time since the clock's start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.lock().now
    }

    /// Moves time on by `step` and wakes everything that was waiting for less.
    pub fn advance(&self, step: Duration) {
        let to = self.now() + step;
        self.advance_to(to);
    }

    /// The next moment that something waits for.
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        self.lock().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// Moves time on to the next moment that something waits for. False if nothing waits.
    pub fn advance_to_next(&self) -> bool {
        let next = self.next_wake();
        next.inspect(|at| self.advance_to(*at)).is_some()
    }

    pub(super) fn advance_to(&self, to: Duration) {
        let due = {
            let mut state = self.lock();
            state.now = state.now.max(to);
            let now = state.now;
            let later = state.sleepers.split_off(&(now, u64::MAX));
            std::mem::replace(&mut state.sleepers, later)
        };
        // Woken outside the lock: a waker may ask the clock.
        due.into_values().flatten().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualClock {
    fn now_ms(&self) -> i64 {
        EPOCH_MS.saturating_add(i64::try_from(self.now().as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        self.now()
    }

    fn sleep_until(&self, until: Duration) -> BoxFuture<'static, ()> {
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        drop(state);
        Box::pin(Sleep { clock: self.clone(), key: (until, id) })
    }
}

struct Sleep {
    clock: VirtualClock,
    key: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.clock.lock();
        if state.now >= self.key.0 {
            state.sleepers.remove(&self.key);
            return Poll::Ready(());
        }
        state.sleepers.insert(self.key, Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let _waker = self.clock.lock().sleepers.remove(&self.key);
    }
}
