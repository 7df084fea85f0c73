//! Rebalances: partitions come and go, and the task takes part in both.

use std::{collections::BTreeMap, sync::Arc, thread, time::Instant};

use connect_sdk::{sink::TopicPartition, task::ports::ConsumerEvent};
use tracing::{info, warn};

use super::{
    Round,
    worker::{Assigned, IDLE_MAX, Worker},
};
use crate::kafka::{
    error::KafkaError,
    ffi::{OFFSET_INVALID, Partitions},
};

impl Worker {
    pub(super) fn on_assigned(&mut self, partitions: &Partitions) -> Result<(), KafkaError> {
        if partitions.is_empty() {
            return self.assign(partitions);
        }
        let deadline = Instant::now() + self.patience;
        let (ours, not_read) = self.by_subscription(partitions);
        let Some(start) = self.start_offsets(&ours, deadline)? else { return self.join_anew(partitions) };
        let names: Vec<Arc<TopicPartition>> = start.iter().map(|(partition, _)| Arc::clone(partition)).collect();
        info!(client = %self.id, partitions = %list(&names), "partitions assigned");
        let mut start: BTreeMap<Arc<TopicPartition>, i64> = start.into_iter().collect();
        let told = start.iter().map(|(partition, offset)| (Arc::clone(partition), *offset)).collect();
        match self.ask(ConsumerEvent::Assigned(told), deadline) {
            Some(Round::Started(from)) => {
                for (partition, offset) in from {
                    start.entry(partition).and_modify(|start| *start = offset);
                }
            }
            // Released without having started: the task is on its way out and will close the consumer.
            Some(_) => {}
            None if self.closing.is_some() => {}
            None => {
                warn!(client = %self.id, "the task did not take its partitions within `max.poll.interval.ms`");
                return self.join_anew(partitions);
            }
        }
        let mut list = Partitions::new();
        for (partition, offset) in &start {
            self.parts.client.forward(&partition.topic, partition.partition, &self.parts.records);
            list.add(&partition.topic, partition.partition, *offset);
        }
        for entry in not_read.iter() {
            list.add(entry.topic, entry.partition, OFFSET_INVALID);
        }
        self.warn_if(self.parts.client.pause(&not_read), "partitions that are not read cannot be paused");
        self.reader.forget_names();
        self.member_id = self.parts.client.member_id().unwrap_or_default();
        self.assign(&list)?;
        self.assigned.extend(start.into_iter().map(|(name, next)| (name, Assigned { next, paused: false })));
        Ok(())
    }

    /// The partitions of topics that are read, and those of others, which a group may give that has not noticed yet that
    /// its topics have changed.
    fn by_subscription(&self, partitions: &Partitions) -> (Partitions, Partitions) {
        let (mut read, mut not_read) = (Partitions::new(), Partitions::new());
        for entry in partitions.iter() {
            let is_read = self.topics.iter().any(|topic| topic == entry.topic);
            let list = if is_read { &mut read } else { &mut not_read };
            list.add(entry.topic, entry.partition, entry.offset);
        }
        (read, not_read)
    }

    fn assign(&self, list: &Partitions) -> Result<(), KafkaError> {
        let assigned = if self.parts.client.is_cooperative() {
            self.parts.client.incremental_assign(list)
        } else {
            self.parts.client.assign(list)
        };
        assigned.map_err(|code| KafkaError::coded(code, "partitions cannot be taken", ""))
    }

    /// Ends a round that the task has not answered in time. The group counts on this member for its partitions, so it
    /// leaves, which takes all of them, and joins again.
    fn join_anew(&mut self, partitions: &Partitions) -> Result<(), KafkaError> {
        let lost: Vec<Arc<TopicPartition>> = std::mem::take(&mut self.assigned).into_keys().collect();
        self.reader.forget_names();
        self.leaving = true;
        for entry in partitions.iter() {
            self.parts.client.forward(entry.topic, entry.partition, &self.parts.records);
        }
        self.assign(partitions)?;
        self.shared.tell(|state| {
            state.control.retain(|event| !matches!(event, ConsumerEvent::Assigned(_)));
            state.batches.clear();
            if !lost.is_empty() {
                state.control.push_back(ConsumerEvent::Lost(lost));
            }
        });
        let none: [&str; 0] = [];
        self.warn_if(self.parts.client.subscribe(&none), "the group cannot be left");
        self.subscribe();
        Ok(())
    }

    pub(super) fn on_revoked(&mut self, partitions: &Partitions) -> Result<(), KafkaError> {
        let names: Vec<Arc<TopicPartition>> = partitions
            .iter()
            .map(|entry| TopicPartition::new(entry.topic, entry.partition))
            .filter_map(|name| self.assigned.get_key_value(&name).map(|(name, _)| Arc::clone(name)))
            .collect();
        if !names.is_empty() {
            // A fatal error takes the partitions too, and says so only afterwards.
            if self.parts.client.is_assignment_lost() || self.parts.client.native().fatal_error().is_some() {
                self.lose(names.clone());
            } else {
                info!(client = %self.id, partitions = %list(&names), "partitions revoked");
                self.shared.lock().drop_records(|partition| names.iter().any(|name| **name == *partition));
                let deadline = Instant::now() + self.patience;
                let answer = self.ask(ConsumerEvent::Revoked(names.clone()), deadline);
                if answer.is_none() && self.closing.is_none() {
                    warn!(client = %self.id, "the task did not release its partitions within `max.poll.interval.ms`");
                    self.lose(names.clone());
                }
            }
        }
        for name in &names {
            self.assigned.remove(name);
        }
        self.reader.forget_names();
        self.leaving = false;
        let given_up = if self.parts.client.is_cooperative() {
            self.parts.client.incremental_unassign(partitions)
        } else {
            self.parts.client.unassign()
        };
        given_up.map_err(|code| KafkaError::coded(code, "partitions cannot be given up", ""))
    }

    pub(super) fn lose(&self, names: Vec<Arc<TopicPartition>>) {
        warn!(client = %self.id, partitions = %list(&names), "partitions lost");
        self.shared.tell(|state| {
            state.drop_records(|partition| names.iter().any(|name| **name == *partition));
            state.control.retain(|event| !matches!(event, ConsumerEvent::Revoked(_)));
            state.control.push_back(ConsumerEvent::Lost(names));
        });
    }

    /// Tells the task and waits for its answer; meanwhile it may commit. `None`: no answer came in time, or the consumer
    /// is being closed.
    fn ask(&mut self, event: ConsumerEvent, deadline: Instant) -> Option<Round> {
        self.shared.tell(|state| {
            state.round = Round::Asked;
            state.control.push_back(event);
        });
        loop {
            let mut state = self.shared.lock();
            let now = Instant::now();
            if !matches!(state.round, Round::Asked) {
                return Some(std::mem::take(&mut state.round));
            }
            if now >= deadline || self.closing.is_some() {
                state.round = Round::None;
                return None;
            }
            drop(state);
            let worked = self.carry_out_commands() | self.serve_commits();
            if !worked {
                thread::park_timeout(deadline.saturating_duration_since(now).min(IDLE_MAX));
            }
        }
    }
}

fn list(partitions: &[Arc<TopicPartition>]) -> String {
    partitions.iter().map(|partition| format!("`{partition}`")).collect::<Vec<_>>().join(", ")
}
