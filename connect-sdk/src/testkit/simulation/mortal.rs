//! `Mortal`: a process that may die at any point. From then on the world hears nothing of it.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// The life of one task's process. Clones are the same.
///
/// Its points are the calls of the task to its ports and to its connector, before and after each, and every moment at
/// which the task waits.
#[derive(Debug, Clone, Default)]
pub(super) struct Mortal {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    n_points: u64,
    dies_at: Option<u64>,
    dead: bool,
    waker: Option<Waker>,
}

impl Mortal {
    /// Lives on until it is killed.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// It dies at the `n`-th point from now, the first of which is 1.
    pub(super) fn dies_after(&self, n: u64) {
        let mut state = self.lock();
        state.dies_at = Some(state.n_points + n);
    }

    /// It dies now.
    pub(super) fn kill(&self) {
        let mut state = self.lock();
        state.dead = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Passes one point. False if it is dead.
    pub(super) fn passes(&self) -> bool {
        let mut state = self.lock();
        if state.dead {
            return false;
        }
        state.n_points += 1;
        state.dead = state.dies_at.is_some_and(|at| state.n_points >= at);
        !state.dead
    }

    /// Passes one point in the middle of an asynchronous call, which does not go on if it is dead.
    pub(super) async fn point(&self) {
        if !self.passes() {
            std::future::pending().await
        }
    }

    pub(super) fn is_dead(&self) -> bool {
        self.lock().dead
    }

    /// Runs a process. `None` if it died; then it is dropped where it stands.
    pub(super) async fn run<T>(self, process: impl Future<Output = T>) -> Option<T> {
        let mut process = Box::pin(process);
        let result = std::future::poll_fn(|cx| self.poll_process(process.as_mut(), cx)).await;
        drop(process);
        result
    }

    fn poll_process<T>(&self, process: Pin<&mut impl Future<Output = T>>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if self.is_dead() {
            return Poll::Ready(None);
        }
        let polled = process.poll(cx);
        if self.is_dead() {
            return Poll::Ready(None);
        }
        match polled {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if !self.passes() => Poll::Ready(None),
            Poll::Pending => {
                self.lock().waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Sim;

    #[test]
    fn a_process_dies_at_each_of_its_points_and_does_nothing_afterwards() {
        let mut died_after = Vec::new();
        for n in 1..=8 {
            let (life, done) = (Mortal::new(), Arc::new(Mutex::new(0)));
            life.dies_after(n);
            let (inner, counts) = (life.clone(), done.clone());
            let process = async move {
                for _ in 0..3 {
                    inner.point().await;
                    *counts.lock().unwrap() += 1;
                    inner.point().await;
                }
            };
            let result = Sim::new(1).run(life.run(process));
            died_after.push((result.is_none(), *done.lock().unwrap()));
        }
        // A point before each step, and one at each wait behind it.
        let expected = [(true, 0), (true, 1), (true, 1), (true, 2), (true, 2), (true, 3), (false, 3), (false, 3)];
        assert_eq!(died_after, expected);
    }

    #[test]
    fn a_killed_process_ends_even_if_it_waits_for_ever() {
        let life = Mortal::new();
        let mut sim = Sim::new(1);
        let killer = life.clone();
        sim.spawn(async move { killer.kill() });
        assert!(sim.run(life.run(std::future::pending::<()>())).is_none());
    }
}
