//! Commits: regular ones, and the last one of partitions that close.

use super::{Life, SinkLoop, partitions::plain};
use crate::{
    error::{Result, TaskError},
    sink::{CloseReason, PartitionTag, PreCommit, TopicPartition},
    task::{
        guard::{guard, is_panic},
        sink_offsets::Positions,
        wait::Timer,
    },
};
use std::sync::Arc;

impl SinkLoop {
    /// Asks the sink what is safe and sends it to the broker.
    ///
    /// What the dead letter queue does not have yet is waited for; if something else comes first, the commit stays due.
    pub(super) async fn commit(&mut self) -> Result<()> {
        self.errors.tell();
        if !self.dead_letters_are_durable().await? {
            return Ok(());
        }
        self.commit_requested = false;
        self.next_commit = self.clock.monotonic().saturating_add(self.config.offset_flush_interval);
        let asked = self.offsets.offered();
        let Life::Open(sink) = &mut self.life else { return Ok(()) };
        if asked.is_empty() {
            return Ok(());
        }
        let question = PreCommit::running(asked.clone());
        let answering = guard("pre_commit", || sink.pre_commit(question));
        let answer = self.inbox.during("pre_commit", answering).await.map(|safe| safe.into_offsets());
        let (safe, claims_all) = match answer {
            Ok(answer) => answer,
            Err(error) => return self.reopen("pre_commit", error),
        };
        if claims_all {
            self.check_held(&asked, "all()", "except(&held)")?;
        }
        let mut accepted = self.offsets.accept(safe);
        accepted.retain(|(p, _)| !self.inbox.is_lost(p));
        if accepted.is_empty() {
            return Ok(());
        }
        if self.again.is_none() {
            self.trouble.over();
        }
        let number = self.offsets.begin(&accepted);
        self.commit_since = self.clock.monotonic();
        self.inbox.consumer.commit(number, accepted);
        Ok(())
    }

    pub(super) fn on_committed(&mut self, number: u64, result: Result<()>) {
        // As in Java, only the commit that is awaited counts: a late result of another one says nothing about now.
        if !self.offsets.ended(number, result.is_ok()) {
            return;
        }
        self.observer.offsets_committed(result.is_ok());
        if let Err(error) = result {
            self.warn(format!("offsets could not be committed, the next commit tries again: {}", error.chain()));
        }
    }

    /// Waits for the commit that is under way: one that the client tries again must not come after the last one.
    async fn await_commit(&mut self, why: CloseReason) {
        let mut limit = self.config.offset_flush_timeout;
        if why == CloseReason::Stopping {
            // The last commit needs time too.
            limit = limit.min(self.config.graceful_timeout / 2);
        }
        let end = self.commit_since.saturating_add(limit);
        while self.offsets.is_committing() {
            let mut timer = Timer::new(Arc::clone(&self.clock));
            timer.set(end.saturating_sub(self.clock.monotonic()));
            match self.inbox.commit_result(timer).await {
                Some((number, result)) => self.on_committed(number, result),
                None => self.commit_is_late(),
            }
        }
    }

    pub(super) fn commit_is_late(&mut self) {
        self.offsets.give_up_commit();
        self.observer.offsets_committed(false);
        let waited = self.clock.monotonic().saturating_sub(self.commit_since).as_millis();
        self.warn(format!("a commit has no result after {waited} ms; it is not waited for any longer"));
    }

    /// The end of an assignment: what is safe, then `closed`, then the commit. The partitions are then forgotten.
    ///
    /// # Errors
    /// Of a sink that stops only a false answer is an error: the rest is a warning, for nothing is lost by it.
    pub(super) async fn close_partitions(
        &mut self,
        partitions: &[Arc<TopicPartition>],
        why: CloseReason,
    ) -> Result<()> {
        if partitions.is_empty() || !matches!(self.life, Life::Open(_)) {
            self.forget(partitions);
            return Ok(());
        }
        // A task that stops has waited for them already.
        let durable = self.await_dead_letters(self.config.offset_flush_timeout).await;
        let (mut safe, mut outcome) = self.ask_closing(partitions, why).await;
        let told = if outcome.as_ref().is_err_and(is_panic) {
            // What panicked is not asked again.
            self.discard_sink()
        } else {
            self.tell_closed(partitions, why).await
        };
        if let Err(error) = told {
            if why == CloseReason::Stopping && !is_panic(&error) {
                self.warn(format!("`closed` failed: {}", error.chain()));
            } else {
                outcome = outcome.and(Err(error));
            }
        }
        outcome = outcome.and(durable);
        self.await_commit(why).await;
        self.cap_at_dead_letters(&mut safe);
        let mut accepted = self.offsets.accept(safe);
        accepted.retain(|(p, _)| partitions.contains(p) && !self.inbox.is_lost(p));
        if !accepted.is_empty() {
            let result = self.inbox.consumer.commit_now(accepted).await;
            self.observer.offsets_committed(result.is_ok());
            if let Err(error) = result {
                self.warn(format!(
                    "the last commit of closing partitions failed, they are delivered again: {}",
                    error.chain()
                ));
            }
        }
        self.forget(partitions);
        outcome
    }

    /// What may be committed of closing partitions, and whether the task can go on.
    async fn ask_closing(&mut self, partitions: &[Arc<TopicPartition>], why: CloseReason) -> (Positions, Result<()>) {
        let asked = self.offsets.offered_of(partitions);
        let Life::Open(sink) = &mut self.life else { return (Positions::new(), Ok(())) };
        let question = PreCommit::closing(asked.clone(), why);
        let answering = guard("pre_commit", || sink.pre_commit(question));
        match self.inbox.during("pre_commit", answering).await.map(|safe| safe.into_offsets()) {
            Ok((safe, claims_all)) => {
                match claims_all.then(|| self.check_held(&asked, "all_written()", "redeliver(&held)")) {
                    Some(Err(error)) => (Positions::new(), Err(error)),
                    _ => (safe, Ok(())),
                }
            }
            Err(error) => {
                self.observer.offsets_committed(false);
                self.warn(format!(
                    "the last `pre_commit` of closing partitions failed, they are delivered again: {}",
                    error.chain()
                ));
                let goes_on = error.is_retriable() || (why == CloseReason::Stopping && !is_panic(&error));
                (Positions::new(), if goes_on { Ok(()) } else { Err(error) })
            }
        }
    }

    async fn tell_closed(&mut self, partitions: &[Arc<TopicPartition>], why: CloseReason) -> Result<()> {
        let Life::Open(sink) = &mut self.life else { return Ok(()) };
        let names = plain(partitions);
        let told = guard("closed", || sink.closed(&names, why));
        self.inbox.during("closed", told).await
    }

    /// A sink that says that everything is written cannot still hold records.
    fn check_held(&self, asked: &Positions, said: &str, instead: &str) -> Result<()> {
        let lent = |tag: &Arc<PartitionTag>| {
            let ours = self.again.iter().flat_map(|delivery| &delivery.records);
            let ours = ours.chain(self.converting.iter().flat_map(|converting| &converting.conversion.records));
            ours.filter(|record| record.has_tag(tag)).count()
        };
        match self.offsets.still_held(asked, lent) {
            None => Ok(()),
            Some(held) => Err(TaskError::fatal(format!(
                "`pre_commit` answers `{said}`, but the sink still holds {} records of `{}`: write them first, or answer `{instead}`",
                held.records, held.partition
            ))),
        }
    }
}
