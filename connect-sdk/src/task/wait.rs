//! Waiting by hand: timers that a loop polls beside other things, growing delays, and giving way.

use super::ports::Clock;
use crate::erased::BoxFuture;
use std::{
    fmt,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

/// One moment to wait for; polled together with whatever else a loop waits for.
pub(crate) struct Timer {
    clock: Arc<dyn Clock>,
    at: Option<Duration>,
    sleep: Option<BoxFuture<'static, ()>>,
}

impl Timer {
    /// A timer that is not set.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, at: None, sleep: None }
    }

    /// Sets it to `delay` from now.
    pub(crate) fn set(&mut self, delay: Duration) {
        self.at = Some(self.clock.monotonic().saturating_add(delay));
        self.sleep = None;
    }

    /// Unsets it: it is pending for ever.
    pub(crate) fn clear(&mut self) {
        self.at = None;
        self.sleep = None;
    }

    /// Ready once its moment has come, again and again until it is set anew or cleared; pending while it is not set.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        loop {
            if self.clock.monotonic() >= at {
                self.sleep = None;
                return Poll::Ready(());
            }
            let sleep = self.sleep.get_or_insert_with(|| self.clock.sleep_until(at));
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            // A clock that rounds down may wake a little early: ask again.
            self.sleep = None;
        }
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("at", &self.at).finish_non_exhaustive()
    }
}

/// A delay that doubles from `first` up to `max`.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    first: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    /// Starts at `first`; a `max` below it wins.
    pub(crate) fn new(first: Duration, max: Duration) -> Self {
        Self { first: first.min(max), max, next: first.min(max) }
    }

    /// The delay now; the next one is twice as long.
    pub(crate) fn next_delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = delay.saturating_mul(2).min(self.max);
        delay
    }

    /// Starts again at the shortest delay.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

/// Failures in a row, of which the 1st, 2nd, 4th, 8th.. are worth a line in the log.
#[derive(Debug, Default, Clone)]
pub(crate) struct Streak(u64);

impl Streak {
    /// Counts one; true if it should be reported.
    pub(crate) fn add(&mut self) -> bool {
        self.0 += 1;
        self.0.is_power_of_two()
    }

    /// Ends the row; true if there was one.
    pub(crate) fn end(&mut self) -> bool {
        std::mem::take(&mut self.0) > 0
    }

    /// How many so far.
    pub(crate) fn n(&self) -> u64 {
        self.0
    }
}

/// Lets other tasks of the executor run once.
pub(crate) async fn give_way() {
    let mut gave_way = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut gave_way, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_their_limit() {
        let ms = Duration::from_millis;
        let mut backoff = Backoff::new(ms(300), ms(1000));
        let delays: Vec<_> = (0..4).map(|_| backoff.next_delay().as_millis()).collect();
        assert_eq!(delays, [300, 600, 1000, 1000]);
        backoff.reset();
        assert_eq!(backoff.next_delay(), ms(300));
        assert_eq!(Backoff::new(ms(300), ms(100)).next_delay(), ms(100));
    }
}
