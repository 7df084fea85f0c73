//! The wished state of a task, from the herder to the task's loop.

use connect_sdk::task::ports::{Commands, TargetState};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// The herder's end.
#[derive(Debug, Clone)]
pub(crate) struct TargetSetter(Arc<Mutex<Wish>>);

/// The task's end: one loop waits on it.
#[derive(Debug)]
pub(crate) struct TargetWatch(Arc<Mutex<Wish>>);

#[derive(Debug)]
struct Wish {
    state: TargetState,
    waiting: Option<Waker>,
}

/// Both ends, with the first wish.
pub(crate) fn target(first: TargetState) -> (TargetSetter, TargetWatch) {
    let shared = Arc::new(Mutex::new(Wish { state: first, waiting: None }));
    (TargetSetter(Arc::clone(&shared)), TargetWatch(shared))
}

fn lock(wish: &Mutex<Wish>) -> MutexGuard<'_, Wish> {
    wish.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TargetSetter {
    /// Wishes for another state. A stop is final.
    pub(crate) fn set(&self, state: TargetState) {
        let waiting = {
            let mut wish = lock(&self.0);
            if wish.state != TargetState::Stopped {
                wish.state = state;
            }
            wish.waiting.take()
        };
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}

impl Commands for TargetWatch {
    fn target(&self) -> TargetState {
        lock(&self.0).state
    }

    fn poll_change(&mut self, cx: &mut Context<'_>, seen: TargetState) -> Poll<TargetState> {
        let mut wish = lock(&self.0);
        if wish.state != seen {
            return Poll::Ready(wish.state);
        }
        match &mut wish.waiting {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test]
    async fn a_change_wakes_the_task_and_a_stop_is_final() {
        let (setter, mut watch) = target(TargetState::Started);
        let waiter = tokio::spawn(async move {
            let paused = poll_fn(|cx| watch.poll_change(cx, TargetState::Started)).await;
            let stopped = poll_fn(|cx| watch.poll_change(cx, paused)).await;
            (paused, stopped, watch)
        });
        setter.set(TargetState::Paused);
        tokio::task::yield_now().await;
        // Whether or not the pause was seen, the stop comes through and nothing undoes it.
        setter.set(TargetState::Stopped);
        setter.set(TargetState::Started);
        let done = tokio::time::timeout(std::time::Duration::from_secs(5), async {
            while !waiter.is_finished() {
                tokio::task::yield_now().await;
            }
        });
        if done.await.is_ok() {
            let (_, last, watch) = waiter.await.unwrap();
            assert_eq!((last, watch.target()), (TargetState::Stopped, TargetState::Stopped));
        } else {
            waiter.abort();
            panic!("the task was not woken");
        }
    }
}
