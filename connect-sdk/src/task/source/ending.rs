//! How a life ends: what is under way is awaited, what is accepted is stored, the source is closed.

use super::{
    super::{guard::guard, ports::TaskEvent, wait::Timer},
    LAST_STORE_DELAY, LifeEnd, SourceTask,
};
use crate::{erased::DynSource, error::TaskError};
use std::{future::poll_fn, pin::Pin, task::Poll, time::Duration};

impl SourceTask {
    /// How long the end of a life waits for what is under way.
    pub(super) fn settle_limit(&self) -> Duration {
        // The worker gives up a task that is not gone in time: enough is left to store what came meanwhile, and what is
        // accepted already is stored at once.
        let worker = &self.config.worker;
        worker.offset_flush_timeout.min(worker.shutdown_graceful_timeout * 3 / 4)
    }

    /// Awaits what is under way and stores what is accepted, each for at most `offset.flush.timeout.ms`.
    pub(super) async fn settle(&mut self, end: &LifeEnd) {
        if self.transactions.is_some() {
            self.settle_transaction(end).await;
            return self.flush_offsets().await;
        }
        let limit = self.settle_limit();
        self.producer.records().hurry();
        self.commit();
        self.wait.set(limit);
        poll_fn(|cx| {
            self.background(cx);
            let done = self.records.n_unresolved() == 0 || self.producer_broken;
            if done { Poll::Ready(()) } else { self.wait.poll(cx) }
        })
        .await;
        let unresolved = self.records.n_unresolved();
        if unresolved > 0 {
            self.observer.event(TaskEvent::Warning(format!(
                "{unresolved} records were not acknowledged within {} ms; they are sent again (`offset.flush.timeout.ms`, \
                 `task.shutdown.graceful.timeout.ms`)",
                limit.as_millis()
            )));
        }
        self.flush_offsets().await;
    }

    /// Stores what is accepted, with as many tries as `offset.flush.timeout.ms` allows, and tells the hook once.
    pub(super) async fn flush_offsets(&mut self) {
        self.commit();
        self.wait.set(self.config.worker.offset_flush_timeout);
        loop {
            let n_failures = self.committer.n_failures();
            let in_time = poll_fn(|cx| {
                self.background(cx);
                if self.committer.poll(cx).is_ready() { Poll::Ready(true) } else { self.wait.poll(cx).map(|()| false) }
            })
            .await;
            if !in_time || self.committer.is_stored() {
                return;
            }
            if self.committer.n_failures() > n_failures {
                let mut pause = Timer::new(self.clock.clone());
                pause.set(LAST_STORE_DELAY);
                poll_fn(|cx| {
                    self.background(cx);
                    pause.poll(cx)
                })
                .await;
            }
            self.committer.begin();
        }
    }

    /// Lets the source release what dropping cannot.
    pub(super) async fn close(&mut self, source: Box<dyn DynSource>) {
        let mut close = guard("close", move || {
            let closing = source.close();
            Box::pin(async move {
                closing.await;
                Ok(())
            })
        });
        self.wait.set(self.config.worker.shutdown_graceful_timeout);
        let result = poll_fn(|cx| {
            self.background(cx);
            if let Poll::Ready(result) = Pin::new(&mut close).poll(cx) {
                return Poll::Ready(result);
            }
            self.wait.poll(cx).map(|()| Err(TaskError::fatal("`close` did not end in time; the source was dropped")))
        })
        .await;
        if let Err(error) = result {
            self.observer.event(TaskEvent::Warning(error.to_string()));
        }
    }
}
