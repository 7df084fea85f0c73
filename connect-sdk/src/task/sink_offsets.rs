//! `SinkOffsets`: per owned partition what was delivered, what is committed, and what a commit may say. No I/O, no time.

use crate::sink::{PartitionTag, TopicPartition};
use std::{collections::BTreeMap, sync::Arc};

/// Partitions, each with an offset.
pub type Positions = Vec<(Arc<TopicPartition>, i64)>;

/// The positions of one sink task.
///
/// Three rules hold whatever the sink and the consumer do: a commit never goes above what was delivered, never names a
/// partition that is not owned, and never goes below where the partition was taken over. Within an assignment it goes
/// back only where the sink says that it holds a record which it had called written before (as in Java's
/// `WorkerSinkTask`).
#[derive(Debug, Default)]
pub struct SinkOffsets {
    owned: BTreeMap<Arc<TopicPartition>, Owned>,
    in_flight: Option<InFlight>,
    /// The number of the latest commit; they count from 1.
    number: u64,
    /// Counts assignments, so that the result of a commit never reaches a later one of the same partition.
    lives: u64,
}

/// One assignment of a partition.
#[derive(Debug)]
struct Owned {
    tag: Arc<PartitionTag>,
    life: u64,
    /// Where this assignment began. A held record from below it is left over from an earlier one.
    start: i64,
    /// After the last record that a put accepted, or that was skipped on the way to it.
    delivered: i64,
    /// Where the task would read again if it were rewound.
    committed: i64,
    /// The offset that the group may have been told last, or the highest of several.
    told: i64,
}

#[derive(Debug)]
struct InFlight {
    number: u64,
    offsets: Vec<(Arc<TopicPartition>, u64, i64)>,
}

/// A partition of which the sink still holds records that it called written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StillHeld {
    /// The partition.
    pub partition: Arc<TopicPartition>,
    /// How many records of it are alive.
    pub records: usize,
}

impl SinkOffsets {
    /// Nothing is owned.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a partition over; it is read from `offset` on, which counts as committed. What was known of an earlier
    /// assignment is forgotten.
    pub fn assign(&mut self, partition: &Arc<TopicPartition>, offset: i64) {
        self.lives += 1;
        let tag = PartitionTag::new(Arc::clone(partition));
        let owned = Owned { tag, life: self.lives, start: offset, delivered: offset, committed: offset, told: offset };
        self.owned.insert(Arc::clone(partition), owned);
    }

    /// Lets the sink's target decide where a partition is read; no commit goes below what the group has already.
    pub fn start_at(&mut self, partition: &TopicPartition, offset: i64) {
        if let Some(owned) = self.owned.get_mut(partition) {
            owned.start = offset;
            owned.delivered = offset;
            owned.committed = offset;
        }
    }

    /// Forgets partitions: revoked or lost.
    pub fn forget(&mut self, partitions: &[Arc<TopicPartition>]) {
        for partition in partitions {
            self.owned.remove(partition);
        }
    }

    /// Goes back to what is committed, because the sink that took the records is gone. Its records no longer count.
    pub fn rewind(&mut self) {
        for (partition, owned) in &mut self.owned {
            owned.delivered = owned.committed;
            owned.tag = PartitionTag::new(Arc::clone(partition));
        }
    }

    /// True if no partition is owned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.owned.is_empty()
    }

    /// True if the partition is owned.
    #[must_use]
    pub fn owns(&self, partition: &TopicPartition) -> bool {
        self.owned.contains_key(partition)
    }

    /// The owned partitions, in order.
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = &Arc<TopicPartition>> {
        self.owned.keys()
    }

    /// The tag that records of an owned partition carry.
    #[must_use]
    pub fn tag(&self, partition: &TopicPartition) -> Option<&Arc<PartitionTag>> {
        self.owned.get(partition).map(|owned| &owned.tag)
    }

    /// The next offset that the sink has not been given.
    #[must_use]
    pub fn position(&self, partition: &TopicPartition) -> Option<i64> {
        self.owned.get(partition).map(|owned| owned.delivered)
    }

    /// A put accepted everything below `position`. A partition that is no longer owned stays forgotten.
    pub fn delivered(&mut self, partition: &TopicPartition, position: i64) {
        if let Some(owned) = self.owned.get_mut(partition) {
            owned.delivered = owned.delivered.max(position);
        }
    }

    /// What `pre_commit` is asked about: the positions of all owned partitions.
    #[must_use]
    pub fn offered(&self) -> Positions {
        self.owned.iter().map(|(partition, owned)| (Arc::clone(partition), owned.delivered)).collect()
    }

    /// As [`Self::offered`], of the named partitions that are owned.
    #[must_use]
    pub fn offered_of(&self, partitions: &[Arc<TopicPartition>]) -> Positions {
        let known = |p: &Arc<TopicPartition>| Some((Arc::clone(p), self.owned.get(p)?.delivered));
        partitions.iter().filter_map(known).collect()
    }

    /// Of what the sink called safe, what may be committed: owned, delivered, and new to the group.
    ///
    /// What lies between the committed offset and what the group may have been told is delivered again, not held: it is
    /// no reason to go back.
    #[must_use]
    pub fn accept(&self, safe: Positions) -> Positions {
        let may = |(partition, offset): &(Arc<TopicPartition>, i64)| {
            self.owned.get(partition).is_some_and(|owned| {
                let goes_on = *offset > owned.committed && *offset >= owned.told && *offset <= owned.delivered;
                let goes_back = *offset < owned.committed && *offset >= owned.start;
                goes_on || goes_back
            })
        };
        safe.into_iter().filter(may).collect()
    }

    /// The first of the partitions of which the sink holds records. `lent` says how many records of a partition the
    /// framework holds itself, for a put that is to be tried again.
    #[must_use]
    pub fn still_held(&self, asked: &Positions, lent: impl Fn(&Arc<PartitionTag>) -> usize) -> Option<StillHeld> {
        asked.iter().find_map(|(partition, _)| {
            let tag = &self.owned.get(partition)?.tag;
            // One reference is ours; each record has one.
            let records = (Arc::strong_count(tag) - 1).saturating_sub(lent(tag));
            (records > 0).then(|| StillHeld { partition: Arc::clone(partition), records })
        })
    }

    /// True while the result of a commit is awaited.
    #[must_use]
    pub fn is_committing(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Notes that accepted offsets are on their way to the broker. Returns the number of this commit.
    pub fn begin(&mut self, offsets: &Positions) -> u64 {
        self.number += 1;
        let mut sent = Vec::with_capacity(offsets.len());
        for (partition, offset) in offsets {
            if let Some(owned) = self.owned.get_mut(partition) {
                owned.told = if *offset < owned.committed { *offset } else { owned.told.max(*offset) };
                sent.push((Arc::clone(partition), owned.life, *offset));
            }
        }
        self.in_flight = Some(InFlight { number: self.number, offsets: sent });
        self.number
    }

    /// A commit has ended. False if it is not the one that is awaited: then nothing changes.
    pub fn ended(&mut self, number: u64, ok: bool) -> bool {
        let Some(commit) = self.in_flight.take_if(|commit| commit.number == number) else { return false };
        if ok {
            for (partition, life, offset) in commit.offsets {
                if let Some(owned) = self.owned.get_mut(&partition).filter(|owned| owned.life == life) {
                    owned.committed = offset;
                }
            }
        }
        true
    }

    /// Stops waiting for a commit whose result does not come; it may still take effect.
    pub fn give_up_commit(&mut self) {
        self.in_flight = None;
    }
}

#[cfg(test)]
mod tests;
