//! `Pauses`: which partitions deliver nothing, why, and what the consumer was told.

use crate::{sink::TopicPartition, task::sink_offsets::SinkOffsets};
use std::{collections::BTreeSet, sync::Arc};

type Set = BTreeSet<Arc<TopicPartition>>;

/// Paused partitions.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// The sink asked for it.
    by_sink: Set,
    /// The consumer knows.
    told: Set,
    /// Records came all the same, or the position has changed: on resuming the consumer must be sent to it.
    stray: Set,
}

/// What the consumer is to be told, in this order.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) pause: Vec<Arc<TopicPartition>>,
    pub(super) seek: Vec<(Arc<TopicPartition>, i64)>,
    pub(super) resume: Vec<Arc<TopicPartition>>,
}

impl Pauses {
    /// True if records of the partition are not to be put now.
    pub(super) fn holds(&self, partition: &TopicPartition) -> bool {
        self.told.contains(partition)
    }

    /// The sink wants no records of these partitions.
    pub(super) fn sink_pauses(&mut self, partition: &Arc<TopicPartition>) {
        self.by_sink.insert(Arc::clone(partition));
    }

    /// The sink wants them again.
    pub(super) fn sink_resumes(&mut self, partition: &TopicPartition) {
        self.by_sink.remove(partition);
    }

    /// A new sink has asked for nothing.
    pub(super) fn sink_is_new(&mut self) {
        self.by_sink.clear();
    }

    /// The consumer's position is not the task's.
    pub(super) fn has_strayed(&mut self, partition: &Arc<TopicPartition>) {
        self.stray.insert(Arc::clone(partition));
    }

    /// Partitions are no longer owned.
    pub(super) fn forget(&mut self, partitions: &[Arc<TopicPartition>]) {
        for set in [&mut self.by_sink, &mut self.told, &mut self.stray] {
            set.retain(|p| !partitions.contains(p));
        }
    }

    /// Works out what the consumer must be told, given whether everything is to be paused; it counts as told.
    pub(super) fn update(&mut self, all: bool, offsets: &SinkOffsets) -> Changes {
        let mut changes = Changes::default();
        for partition in offsets.partitions() {
            let wanted = all || self.by_sink.contains(partition);
            if wanted && self.told.insert(Arc::clone(partition)) {
                changes.pause.push(Arc::clone(partition));
            }
            if wanted {
                continue;
            }
            if self.stray.remove(partition)
                && let Some(position) = offsets.position(partition)
            {
                changes.seek.push((Arc::clone(partition), position));
            }
            if self.told.remove(partition) {
                changes.resume.push(Arc::clone(partition));
            }
        }
        changes
    }
}
