//! `Driver`: runs the tasks of a world in the seeded order, on virtual time, and lets connectors do real work meanwhile.
//!
//! The runtime around it is tokio's with one thread and a paused clock, which goes along with the virtual one: what a
//! connector waits for in tokio's time takes no real time either. Files, sockets and threads are real; while a connector
//! waits for one of them nothing else moves, so that a run depends on them as little as can be.

use crate::testkit::{Sim, VirtualClock};
use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};
use tokio::time::Instant;

/// How long a connector may wait for something real before virtual time goes on without it.
pub(super) const PATIENCE: Duration = Duration::from_millis(10);
/// How often the tasks that a connector has spawned get their turn before it counts as waiting.
const TURNS: usize = 3;
/// How many steps one stretch of a run may take before it counts as a livelock.
const STEPS_MAX: u64 = 2_000_000;

/// Drives one world.
pub(super) struct Driver {
    pub(super) sim: Sim,
    clock: VirtualClock,
    calls: Calls,
    patience: Duration,
    began: Instant,
}

impl Driver {
    /// Must be made inside a runtime of [`Self::runtime`].
    pub(super) fn new(seed: u64, patience: Duration) -> Self {
        let sim = Sim::new(seed);
        Self { clock: sim.clock(), sim, calls: Calls::default(), patience, began: Instant::now() }
    }

    /// The runtime that a driver needs.
    pub(super) fn runtime() -> Result<tokio::runtime::Runtime, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.map_err(|error| format!("the test's runtime cannot be made: {error}"))
    }

    /// The calls into connectors that it waits for.
    pub(super) fn calls(&self) -> Calls {
        self.calls.clone()
    }

    pub(super) fn clock(&self) -> VirtualClock {
        self.clock.clone()
    }

    /// Runs everything until `done`, which is asked after each step, or until `time` has passed. True if it is done.
    ///
    /// # Errors
    /// A livelock.
    pub(super) async fn run_until(&mut self, time: Duration, mut done: impl FnMut() -> bool) -> Result<bool, String> {
        let end = self.clock.now() + time;
        for _ in 0..STEPS_MAX {
            if done() {
                return Ok(true);
            }
            self.calls.settle(self.patience).await;
            if self.sim.step() {
                continue;
            }
            let next = self.clock.next_wake().filter(|at| *at <= end);
            if next.is_none() && self.clock.now() >= end {
                return Ok(false);
            }
            self.pass_to(next.unwrap_or(end)).await;
        }
        Err(format!("after {STEPS_MAX} steps nothing comes to an end: a livelock"))
    }

    /// Lets time pass up to a moment, unless a connector wakes before.
    async fn pass_to(&mut self, at: Duration) {
        let sim = &self.sim;
        let slept = tokio::select! {
            biased;
            () = poll_fn(|cx| sim.poll_runnable(cx)) => false,
            () = tokio::time::sleep_until(self.began + at) => true,
        };
        let now = if slept { at } else { self.began.elapsed().min(at) };
        self.clock.advance_to(now);
    }
}

/// The calls into connectors that have not returned. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    state: Arc<CallsState>,
}

#[derive(Debug, Default)]
struct CallsState {
    calls: Mutex<Vec<Call>>,
    woken: Condvar,
    next_id: Mutex<u64>,
}

#[derive(Debug)]
struct Call {
    id: u64,
    /// It can go on.
    woken: bool,
    /// It has been waited for in vain.
    quiet: bool,
}

impl CallsState {
    fn lock(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    /// A call into a connector, which is waited for in real time while it waits for something real.
    pub(super) fn watch<F: Future>(&self, call: F) -> Watched<F> {
        let mut next = self.state.next_id.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        Watched { call: Box::pin(call), id: *next, calls: self.clone() }
    }

    /// Waits until each call has returned or can go on, or does neither for a while.
    async fn settle(&self, patience: Duration) {
        let is_open = || {
            let calls = self.state.lock();
            calls.iter().any(|c| !c.quiet) && !calls.iter().any(|c| c.woken)
        };
        for _ in 0..TURNS {
            if !is_open() {
                return;
            }
            tokio::task::yield_now().await;
        }
        if !is_open() {
            return;
        }
        if !patience.is_zero() {
            let state = self.state.clone();
            // On a thread of its own, which keeps tokio's clock from going on meanwhile.
            let waiting = tokio::task::spawn_blocking(move || {
                let calls = state.lock();
                let woken = |calls: &mut Vec<Call>| !calls.iter().any(|c| c.woken);
                drop(state.woken.wait_timeout_while(calls, patience, woken));
            });
            drop(waiting.await);
        }
        let mut calls = self.state.lock();
        if !calls.iter().any(|c| c.woken) {
            calls.iter_mut().for_each(|c| c.quiet = true);
        }
    }
}

/// A call that is being watched. It is polled when it was woken, not when something else of its task was.
pub(super) struct Watched<F> {
    call: Pin<Box<F>>,
    id: u64,
    calls: Calls,
}

impl<F: Future> Future for Watched<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let id = self.id;
        {
            let mut calls = self.calls.state.lock();
            match calls.iter_mut().find(|c| c.id == id) {
                Some(call) if !call.woken => return Poll::Pending,
                Some(call) => call.woken = false,
                None => calls.push(Call { id, woken: false, quiet: false }),
            }
        }
        let waker = Waker::from(Arc::new(CallWaker { id, state: self.calls.state.clone(), task: cx.waker().clone() }));
        let polled = self.call.as_mut().poll(&mut Context::from_waker(&waker));
        let mut calls = self.calls.state.lock();
        match &polled {
            Poll::Ready(_) => calls.retain(|c| c.id != id),
            Poll::Pending => {
                if let Some(call) = calls.iter_mut().find(|c| c.id == id) {
                    call.quiet = false;
                }
            }
        }
        drop(calls);
        polled
    }
}

impl<F> Drop for Watched<F> {
    fn drop(&mut self) {
        self.calls.state.lock().retain(|c| c.id != self.id);
    }
}

struct CallWaker {
    id: u64,
    state: Arc<CallsState>,
    /// A task's waker stays the same for all of its life in a `Sim`.
    task: Waker,
}

impl Wake for CallWaker {
    fn wake(self: Arc<Self>) {
        if let Some(call) = self.state.lock().iter_mut().find(|c| c.id == self.id) {
            call.woken = true;
        }
        self.state.woken.notify_all();
        self.task.wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::ports::Clock;

    fn run<T: Send + 'static>(
        patience: Duration,
        call: impl Future<Output = T> + Send + 'static,
        time: Duration,
    ) -> (Option<T>, Duration) {
        Driver::runtime().unwrap().block_on(async move {
            let mut driver = Driver::new(1, patience);
            let (clock, watched) = (driver.clock(), driver.calls().watch(call));
            // Something that always waits for virtual time.
            let ticks = clock.clone();
            driver.sim.spawn(async move {
                loop {
                    ticks.sleep_until(ticks.now() + Duration::from_millis(1)).await;
                }
            });
            let done = Arc::new(Mutex::new(None));
            let slot = done.clone();
            driver.sim.spawn(async move { *slot.lock().unwrap() = Some(watched.await) });
            let asked = done.clone();
            driver.run_until(time, || asked.lock().unwrap().is_some()).await.unwrap();
            let result = done.lock().unwrap().take();
            (result, clock.now())
        })
    }

    #[test]
    fn real_work_takes_no_virtual_time() {
        let file = async { tokio::fs::read_to_string("Cargo.toml").await.map(|text| text.len()) };
        let (length, took) = run(PATIENCE, file, Duration::from_secs(60));
        assert!(length.unwrap().unwrap() > 0);
        assert_eq!(took, Duration::ZERO);
        let thread =
            async { tokio::task::spawn_blocking(|| std::thread::park_timeout(Duration::from_millis(30))).await };
        let (joined, took) = run(PATIENCE, thread, Duration::from_secs(60));
        assert!(joined.unwrap().is_ok());
        assert_eq!(took, Duration::ZERO, "time does not go on while a thread works");
    }

    #[test]
    fn a_connectors_own_timer_goes_with_virtual_time() {
        // Made where its clock is.
        let minute = async { tokio::time::timeout(Duration::from_secs(60), std::future::pending::<()>()).await };
        let (waited, took) = run(Duration::ZERO, minute, Duration::from_secs(600));
        assert!(waited.is_some());
        assert!((60_000..60_010).contains(&took.as_millis()), "{took:?}");
    }

    #[test]
    fn a_call_that_waits_for_ever_does_not_hold_time_up() {
        let (result, took) = run(PATIENCE, std::future::pending::<()>(), Duration::from_secs(60));
        assert_eq!((result, took.as_secs()), (None, 60));
    }
}
