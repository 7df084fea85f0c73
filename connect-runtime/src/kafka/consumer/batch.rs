//! Copies messages out of librdkafka's memory into batches.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use connect_sdk::{
    sink::TopicPartition,
    task::ports::{ConsumedBatch, ConsumedRecord},
};
use rdkafka::error::RDKafkaErrorCode as Code;

use crate::kafka::ffi::{CodeResult, Message, Messages, Queue};

/// Bytes of keys, values and headers in a batch; the last record may go beyond it.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Messages taken from the queue in one call.
const TAKE_MAX: usize = 1024;
/// What a message is taken to be long before any was seen.
const MESSAGE_BYTES_GUESS: usize = 16 * 1024;

/// What was read: a batch, and errors of partitions that stood among the messages.
#[derive(Debug, Default)]
pub(in super::super) struct Batches {
    pub(in super::super) batch: Option<ConsumedBatch>,
    pub(in super::super) errors: Vec<(Code, String)>,
}

/// Reads batches from one queue.
pub(in super::super) struct BatchReader {
    messages: Messages,
    records_max: usize,
    /// Names by librdkafka's topic and the partition's number; forgotten whenever the assignment changes.
    names: HashMap<(usize, i32), Arc<TopicPartition>>,
    /// Places in the batch being built.
    places: HashMap<(usize, i32), u32>,
    /// Bytes of a message, lately.
    average: usize,
    /// Bytes of the last batch.
    last_bytes: usize,
}

impl BatchReader {
    pub(in super::super) fn new(records_max: usize) -> Self {
        Self {
            messages: Messages::new(),
            records_max,
            names: HashMap::new(),
            places: HashMap::new(),
            average: MESSAGE_BYTES_GUESS,
            last_bytes: 0,
        }
    }

    /// To be called when partitions come or go: librdkafka may give a topic's place in memory to another.
    pub(in super::super) fn forget_names(&mut self) {
        self.names.clear();
    }

    /// Takes what is in the queue, up to the limits of a batch. The positions are those behind the last records.
    pub(in super::super) fn read(&mut self, queue: &Queue) -> CodeResult<Batches> {
        let mut read = Batches::default();
        let mut batch = ConsumedBatch::default();
        let mut buffer = Vec::new();
        let mut last = ((0, -1), 0);
        self.places.clear();
        while batch.records.len() < self.records_max && buffer.len() < BATCH_BYTES_MAX {
            let room = (BATCH_BYTES_MAX - buffer.len()) / self.average.max(1);
            let take = room.clamp(1, TAKE_MAX).min(self.records_max - batch.records.len());
            let n = self.messages.take(queue, take)?;
            if n == 0 {
                break;
            }
            let start = buffer.len();
            let bytes: usize = self.messages.iter().map(len).sum();
            buffer.reserve(bytes.max(if start == 0 { self.last_bytes } else { 0 }));
            batch.records.reserve(n);
            let Self { messages, names, places, .. } = self;
            for message in messages.iter() {
                if let Some(error) = message.error() {
                    read.errors.push(error);
                    continue;
                }
                let id = (message.topic_id(), message.partition());
                if last.0 != id {
                    let place = *places.entry(id).or_insert_with(|| {
                        let name = names
                            .entry(id)
                            .or_insert_with(|| Arc::new(TopicPartition::new(message.topic(), message.partition())));
                        batch.partitions.push(Arc::clone(name));
                        batch.positions.push(0);
                        u32::try_from(batch.partitions.len() - 1).unwrap_or(u32::MAX)
                    });
                    last = (id, place);
                }
                batch.positions[last.1 as usize] = message.offset() + 1;
                let record = copy(message, last.1, &mut buffer, &mut batch.headers);
                batch.records.push(record);
            }
            self.messages.clear();
            self.average = (buffer.len() - start).div_ceil(n).max(1);
            if n < take {
                break;
            }
        }
        if !batch.records.is_empty() {
            self.last_bytes = buffer.len();
            batch.buffer = Bytes::from(buffer);
            read.batch = Some(batch);
        }
        Ok(read)
    }
}

fn len(message: Message<'_>) -> usize {
    message.key().map_or(0, <[u8]>::len) + message.value().map_or(0, <[u8]>::len)
}

/// Where a header's name and value are.
type HeaderPlaces = ((u32, u32), Option<(u32, u32)>);

fn copy(message: Message<'_>, partition: u32, buffer: &mut Vec<u8>, headers: &mut Vec<HeaderPlaces>) -> ConsumedRecord {
    let key = message.key().map(|bytes| append(buffer, bytes));
    let value = message.value().map(|bytes| append(buffer, bytes));
    let first = place(headers.len());
    message.headers(|name, value| {
        let name = append(buffer, name);
        headers.push((name, value.map(|bytes| append(buffer, bytes))));
    });
    ConsumedRecord {
        partition,
        offset: message.offset(),
        timestamp: message.timestamp(),
        key,
        value,
        headers: (first, place(headers.len()) - first),
    }
}

#[inline]
fn append(buffer: &mut Vec<u8>, bytes: &[u8]) -> (u32, u32) {
    let start = place(buffer.len());
    buffer.extend_from_slice(bytes);
    (start, place(bytes.len()))
}

/// A place in a batch. The byte limit and Kafka's limit of a message (1 GB) keep it below 4 GiB.
#[inline]
fn place(at: usize) -> u32 {
    u32::try_from(at).expect("a batch is smaller than 4 GiB")
}
