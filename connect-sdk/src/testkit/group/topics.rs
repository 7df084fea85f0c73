//! `Topics`: the records of partitions, and what a group has committed of them.

use super::{Positions, RawRecord};
use crate::{
    sink::TopicPartition,
    task::ports::{ConsumedBatch, ConsumedRecord},
};
use bytes::BytesMut;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    task::Waker,
};

/// What all members of a group see.
#[derive(Debug, Default)]
pub(super) struct Topics {
    pub(super) logs: BTreeMap<TopicPartition, Log>,
    pub(super) committed: BTreeMap<TopicPartition, i64>,
    /// Members that wait for records.
    pub(super) wakers: Vec<Waker>,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    /// By offset; an offset that is missing is a transaction marker or was compacted away.
    pub(super) records: BTreeMap<i64, RawRecord>,
    pub(super) end: i64,
}

impl Topics {
    /// The next records of these partitions, whose positions move on; none if there are none.
    pub(super) fn next_batch(
        &self,
        reading: &mut BTreeMap<Arc<TopicPartition>, i64>,
        paused: &BTreeSet<Arc<TopicPartition>>,
        records_max: usize,
    ) -> ConsumedBatch {
        let (mut batch, mut buffer) = (ConsumedBatch::default(), BytesMut::new());
        for (partition, at) in reading {
            let Some(log) = self.logs.get(&**partition).filter(|_| !paused.contains(partition)) else { continue };
            let room = records_max - batch.records.len();
            if *at >= log.end || room == 0 {
                continue;
            }
            let index = u32::try_from(batch.partitions.len()).unwrap_or(u32::MAX);
            let coming: Vec<_> = log.records.range(*at..).take(room).collect();
            for (offset, record) in &coming {
                add(&mut batch, &mut buffer, index, **offset, record);
            }
            // Beyond the last record there may be markers, which the consumer has passed over already.
            let exhausted = log.records.range(*at..).nth(room).is_none();
            *at = coming.last().filter(|_| !exhausted).map_or(log.end, |(offset, _)| **offset + 1);
            batch.partitions.push(Arc::clone(partition));
            batch.positions.push(*at);
        }
        batch.buffer = buffer.freeze();
        batch
    }

    pub(super) fn commit(&mut self, offsets: &Positions) {
        self.committed.extend(offsets.iter().map(|(p, offset)| (TopicPartition::clone(p), *offset)));
    }
}

fn add(batch: &mut ConsumedBatch, buffer: &mut BytesMut, partition: u32, offset: i64, record: &RawRecord) {
    let mut place = |bytes: &[u8]| {
        let start = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        buffer.extend_from_slice(bytes);
        (start, u32::try_from(bytes.len()).unwrap_or(u32::MAX))
    };
    let key = record.key.as_deref().map(&mut place);
    let value = record.value.as_deref().map(&mut place);
    let first = u32::try_from(batch.headers.len()).unwrap_or(u32::MAX);
    for (name, value) in &record.headers {
        let header = (place(name), value.as_deref().map(&mut place));
        batch.headers.push(header);
    }
    let headers = (first, u32::try_from(record.headers.len()).unwrap_or(u32::MAX));
    batch.records.push(ConsumedRecord { partition, offset, timestamp: record.timestamp, key, value, headers });
}
