//! Assignments: partitions come, are revoked, are lost, and are paused.

use super::{Life, SinkLoop, inbox::list};
use crate::{
    error::{Result, TaskError},
    sink::{CloseReason, StartOffsets, TopicPartition},
    task::{guard::guard, ports::TargetState, sink_offsets::Positions},
};
use std::sync::Arc;

impl SinkLoop {
    pub(super) async fn on_assigned(&mut self, assigned: Positions) -> Result<()> {
        let known: Vec<_> = assigned.iter().map(|(p, _)| p).filter(|p| self.offsets.owns(p)).cloned().collect();
        if !known.is_empty() {
            // Given again without having been taken: what the sink holds belongs to an assignment that is over.
            self.on_lost(&known).await?;
        }
        let names: Vec<_> = assigned.iter().map(|(p, _)| Arc::clone(p)).collect();
        for (partition, offset) in assigned {
            self.offsets.assign(&partition, offset);
        }
        let told = self.ask_start_offsets(&names).await;
        let from = names.iter().filter(|p| !self.inbox.is_lost(p));
        let from = from.filter_map(|p| Some((Arc::clone(p), self.offsets.position(p)?))).collect();
        self.inbox.consumer.start(from);
        self.after_assigned(told)
    }

    /// Tells an opened sink what it has, and goes to where it wants to start.
    pub(super) async fn tell_assigned(&mut self, partitions: &[Arc<TopicPartition>]) -> Result<()> {
        let told = self.ask_start_offsets(partitions).await;
        if told.is_ok() {
            for partition in partitions {
                self.pauses.has_strayed(partition);
            }
        }
        self.after_assigned(told)
    }

    fn after_assigned(&mut self, told: Result<()>) -> Result<()> {
        match told {
            Ok(()) => {
                self.tell_pauses();
                Ok(())
            }
            Err(error) => self.reopen("assigned", error),
        }
    }

    async fn ask_start_offsets(&mut self, partitions: &[Arc<TopicPartition>]) -> Result<()> {
        let Life::Open(sink) = &mut self.life else { return Ok(()) };
        if partitions.is_empty() {
            return Ok(());
        }
        let names = plain(partitions);
        let told = guard("assigned", || sink.assigned(&names));
        let start = self.inbox.during("assigned", told).await?;
        check_start(&start, &names)?;
        for (partition, offset) in start.iter() {
            self.offsets.start_at(partition, offset);
        }
        Ok(())
    }

    pub(super) async fn on_revoked(&mut self, mut partitions: Vec<Arc<TopicPartition>>) -> Result<()> {
        partitions.retain(|p| self.offsets.owns(p));
        self.take_back(&partitions);
        let closed = self.close_partitions(&partitions, CloseReason::Revoked).await;
        self.inbox.consumer.released();
        closed
    }

    pub(super) async fn on_lost(&mut self, partitions: &[Arc<TopicPartition>]) -> Result<()> {
        let lost: Vec<_> = partitions.iter().filter(|p| self.offsets.owns(p)).cloned().collect();
        if lost.is_empty() {
            return Ok(());
        }
        self.take_back(&lost);
        self.warn(format!("partitions were lost without a last commit: {}", list(&lost)));
        // Forgotten first: whatever the sink does now, nothing of them is committed any more.
        self.forget(&lost);
        let Life::Open(sink) = &mut self.life else { return Ok(()) };
        let names = plain(&lost);
        let told = guard("closed", || sink.closed(&names, CloseReason::Lost));
        self.inbox.during("closed", told).await
    }

    /// Takes the records of partitions that are given up out of what waits for another try.
    fn take_back(&mut self, partitions: &[Arc<TopicPartition>]) {
        if let Some(delivery) = &mut self.again {
            delivery.forget(partitions);
        }
        if let Some(converting) = &mut self.converting {
            converting.conversion.forget(partitions);
        }
    }

    pub(super) fn forget(&mut self, partitions: &[Arc<TopicPartition>]) {
        self.offsets.forget(partitions);
        self.pauses.forget(partitions);
    }

    /// Tells the consumer what has changed in what it may deliver.
    pub(super) fn tell_pauses(&mut self) {
        let waits = self.again.is_some() || self.converting.is_some();
        let all = self.target != TargetState::Started || waits || !matches!(self.life, Life::Open(_));
        let changes = self.pauses.update(all, &self.offsets);
        if !changes.pause.is_empty() {
            self.inbox.consumer.pause(changes.pause);
        }
        if !changes.seek.is_empty() {
            self.inbox.seek(changes.seek);
        }
        if !changes.resume.is_empty() {
            self.inbox.consumer.resume(changes.resume);
        }
    }
}

/// The names that a sink is told.
pub(super) fn plain(partitions: &[Arc<TopicPartition>]) -> Vec<TopicPartition> {
    partitions.iter().map(|p| TopicPartition::clone(p)).collect()
}

/// A sink may start only partitions that it has just got, and only at offsets that exist.
fn check_start(start: &StartOffsets, assigned: &[TopicPartition]) -> Result<()> {
    for (partition, offset) in start.iter() {
        if !assigned.contains(partition) {
            let names: Vec<_> = assigned.iter().map(|p| format!("`{p}`")).collect();
            return Err(TaskError::fatal(format!(
                "`assigned` answers a start offset for `{partition}`, which was not assigned now; assigned were {}",
                names.join(", ")
            )));
        }
        if offset < 0 {
            return Err(TaskError::fatal(format!(
                "`assigned` answers the start offset {offset} for `{partition}`; offsets begin at 0"
            )));
        }
    }
    Ok(())
}
