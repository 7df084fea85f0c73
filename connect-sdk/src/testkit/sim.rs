//! `Sim`: a deterministic executor on a virtual clock. One seed is one order of events.

use super::{VirtualClock, random::Random};
use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

/// How often tasks may be polled in one run before it counts as a livelock.
const STEPS_MAX: u64 = 20_000_000;

/// Runs futures on one thread. Which of the runnable ones goes first is drawn from the seed; when none is runnable, the
/// clock jumps to the next moment that one waits for.
#[derive(Debug)]
pub struct Sim {
    clock: VirtualClock,
    random: Random,
    ready: Arc<Mutex<Ready>>,
    tasks: BTreeMap<u64, Task>,
    next_id: u64,
}

/// The futures that can go on.
#[derive(Debug, Default)]
struct Ready {
    ids: Vec<u64>,
    /// Whoever drives the executor, and waits for one of them.
    driver: Option<Waker>,
}

struct Task {
    future: Pin<Box<dyn Future<Output = ()>>>,
    waker: Waker,
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Task")
    }
}

struct ReadyWaker {
    id: u64,
    ready: Arc<Mutex<Ready>>,
}

impl Wake for ReadyWaker {
    fn wake(self: Arc<Self>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if !ready.ids.contains(&self.id) {
            ready.ids.push(self.id);
        }
        let driver = ready.driver.take();
        drop(ready);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

impl Sim {
    /// An executor with a clock of its own.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::on(VirtualClock::new(), seed)
    }

    /// An executor on a clock that is there already: what ran before a crash shares it with what runs after.
    #[must_use]
    pub fn on(clock: VirtualClock, seed: u64) -> Self {
        Self { clock, random: Random::new(seed), ready: Arc::default(), tasks: BTreeMap::new(), next_id: 0 }
    }

    /// Its clock.
    #[must_use]
    pub fn clock(&self) -> VirtualClock {
        self.clock.clone()
    }

    /// Adds a future that runs beside the others; it is dropped with the executor if it never ends.
    pub fn spawn(&mut self, future: impl Future<Output = ()> + 'static) {
        let id = self.next_id;
        self.next_id += 1;
        let waker = Waker::from(Arc::new(ReadyWaker { id, ready: self.ready.clone() }));
        waker.wake_by_ref();
        self.tasks.insert(id, Task { future: Box::pin(future), waker });
    }

    /// Runs everything until `future` is done.
    ///
    /// # Panics
    /// If everything waits and no timer is set (a deadlock), or after very many steps (a livelock).
    pub fn run<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) -> T {
        let result = Arc::new(Mutex::new(None));
        let slot = result.clone();
        self.spawn(async move {
            let value = future.await;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        });
        self.drive(|| result.lock().unwrap_or_else(PoisonError::into_inner).take())
    }

    /// Runs everything until `done` answers something; it is asked after each step.
    ///
    /// # Panics
    /// As [`Self::run`].
    pub fn drive<T>(&mut self, mut done: impl FnMut() -> Option<T>) -> T {
        for _ in 0..STEPS_MAX {
            if let Some(value) = done() {
                return value;
            }
            if !self.step() && !self.clock.advance_to_next() {
                panic!("deadlock at {:?}: {} tasks wait and no timer is set", self.clock.now(), self.tasks.len());
            }
        }
        panic!("livelock at {:?}: still not done after {STEPS_MAX} steps", self.clock.now());
    }

    /// Runs everything until the clock has moved on by `time`.
    pub fn run_for(&mut self, time: Duration) {
        let until = self.clock.now() + time;
        loop {
            while self.step() {}
            match self.clock.next_wake() {
                Some(at) if at <= until => self.clock.advance_to_next(),
                _ => break,
            };
        }
        self.clock.advance(until.saturating_sub(self.clock.now()));
        while self.step() {}
    }

    /// Ready while a future can go on; for a driver that waits for what other threads wake.
    pub(super) fn poll_runnable(&self, cx: &Context<'_>) -> Poll<()> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.ids.is_empty() {
            ready.driver = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Polls one runnable future. False if there was none.
    pub(super) fn step(&mut self) -> bool {
        let id = {
            let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            if ready.ids.is_empty() {
                return false;
            }
            let at = self.random.below(ready.ids.len());
            ready.ids.swap_remove(at)
        };
        if let Some(task) = self.tasks.get_mut(&id) {
            let mut cx = Context::from_waker(&task.waker);
            if let Poll::Ready(()) = task.future.as_mut().poll(&mut cx) {
                self.tasks.remove(&id);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::ports::Clock;

    #[test]
    fn time_jumps_when_everything_waits() {
        let mut sim = Sim::new(1);
        let clock = sim.clock();
        let (a, b) = (clock.clone(), clock.clone());
        sim.spawn(async move { a.sleep_until(Duration::from_secs(5)).await });
        sim.run(async move { b.sleep_until(Duration::from_secs(3600)).await });
        assert_eq!(clock.now(), Duration::from_secs(3600));
    }

    #[test]
    fn a_seed_is_an_order() {
        let order = |seed| {
            let mut sim = Sim::new(seed);
            let log = Arc::new(Mutex::new(Vec::new()));
            for i in 0..20 {
                let log = log.clone();
                sim.spawn(async move { log.lock().unwrap().push(i) });
            }
            sim.run_for(Duration::ZERO);
            let log = log.lock().unwrap();
            log.clone()
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn a_deadlock_is_found() {
        Sim::new(1).run(std::future::pending::<()>());
    }
}
