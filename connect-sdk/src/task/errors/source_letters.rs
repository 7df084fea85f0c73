//! `SourceLetters`: what a source's dead letters say beside the record, and how they fit into their topic.

use super::{ContextHeaders, Failure, Origin};
use crate::{
    data::{Text, value_text},
    source::{Entry, OffsetColumn, OffsetMap, PartitionMap, Payload, PayloadRef, RecordBatch},
    task::{
        TaskInfo,
        ports::{ProduceBatch, Slice},
    },
};
use std::{fmt::Write, sync::Arc};

/// How much of a key, a value or a header a line in the log shows, in bytes.
const SHOWN_BYTES_MAX: usize = 1024;

/// The dead letters of one source task.
#[derive(Debug, Clone)]
pub(crate) struct SourceLetters {
    pub(crate) topic: Text,
    pub(crate) context_headers: bool,
    pub(crate) task: TaskInfo,
    pub(crate) partitions: Arc<[PartitionMap]>,
}

impl SourceLetters {
    /// The context headers of a record that was to go to `topic`, if they are asked for.
    pub(crate) fn headers(
        &self,
        topic: &str,
        slot: u32,
        offset: Option<&OffsetMap>,
        failure: &Failure,
    ) -> Vec<(&'static str, Option<String>)> {
        if !self.context_headers {
            return Vec::new();
        }
        let partition = self.partitions.get(slot as usize);
        ContextHeaders::new(&self.task, Origin::Source { topic, partition, offset }, failure).0
    }

    /// Makes a dead letter of a record that is larger than its topic takes, at its place in the batch.
    pub(crate) fn redirect(
        &self,
        batch: &mut ProduceBatch,
        index: usize,
        headers: Vec<(&'static str, Option<String>)>,
    ) {
        let at = batch.topics.iter().position(|t| *t == self.topic).unwrap_or_else(|| {
            batch.topics.push(self.topic.clone());
            batch.topics.len() - 1
        });
        batch.records[index].topic = u32::try_from(at).unwrap_or(u32::MAX);
        batch.records[index].partition = None;
        self.append_headers(batch, index, headers);
    }

    fn append_headers(&self, batch: &mut ProduceBatch, index: usize, headers: Vec<(&'static str, Option<String>)>) {
        let (first, n) = (batch.records[index].headers.0 as usize, batch.records[index].headers.1 as usize);
        let start = batch.headers.len();
        batch.headers.extend_from_within(first..first + n);
        for (name, value) in headers {
            let name = Slice::write(1, &mut batch.buffers[1], name.as_bytes());
            let value = value.map(|text| Slice::write(1, &mut batch.buffers[1], text.as_bytes()));
            batch.headers.push((name, value));
        }
        let n = batch.headers.len() - start;
        batch.records[index].headers = (place(start), place(n));
    }

    /// Cuts a dead letter to what its topic takes: first its stack trace goes, then the end of its value, and a header
    /// says how long that was. False if even its key and headers are too large.
    pub(crate) fn fit(&self, batch: &mut ProduceBatch, index: usize, bytes_max: usize) -> bool {
        let too_much = |batch: &ProduceBatch| batch.record_bytes(&batch.records[index]).saturating_sub(bytes_max);
        if too_much(batch) == 0 {
            return true;
        }
        if self.context_headers && batch.records[index].headers.1 > 0 {
            batch.records[index].headers.1 -= 1;
        }
        if too_much(batch) == 0 {
            return true;
        }
        let n_bytes = batch.records[index].value.map_or(0, |value| value.len as usize);
        self.append_headers(batch, index, vec![ContextHeaders::value_was_cut(n_bytes)]);
        let over = too_much(batch);
        if let Some(value) = &mut batch.records[index].value {
            value.len = value.len.saturating_sub(place(over));
        }
        too_much(batch) == 0
    }
}

/// The position after a record, or after the group that it belongs to.
pub(crate) fn offset_of(entries: &[Entry], index: usize, offsets: &dyn OffsetColumn) -> Option<OffsetMap> {
    let slot = entries[index].slot;
    let at = entries[index..].iter().filter(|e| e.slot == slot).find_map(|e| e.offset)?;
    Some(offsets.encode(at))
}

/// A record in the words of Kafka's `LogReporter`; long parts are cut.
pub(crate) fn source_record(
    raw: &RecordBatch,
    index: usize,
    partition: &PartitionMap,
    offset: Option<&OffsetMap>,
) -> String {
    let entry = &raw.entries()[index];
    let mut text = String::from(", where source record is = SourceRecord{sourcePartition=");
    fields(&mut text, Some(partition));
    text.push_str(", sourceOffset=");
    fields(&mut text, offset);
    // Writing to a string cannot fail.
    let _ok = write!(text, "}} ConnectRecord{{topic='{}', kafkaPartition=", raw.topics()[entry.topic as usize]);
    let _ok = match entry.partition {
        Some(partition) => write!(text, "{partition}"),
        None => write!(text, "null"),
    };
    text.push_str(", key=");
    payload(&mut text, raw, entry.key);
    text.push_str(", value=");
    payload(&mut text, raw, entry.value);
    let _ok = match entry.timestamp {
        Some(timestamp) => write!(text, ", timestamp={timestamp}, headers=["),
        None => write!(text, ", timestamp=null, headers=["),
    };
    for (i, (name, value)) in raw.headers(entry.headers).enumerate() {
        text.push_str(if i == 0 { "" } else { ", " });
        text.push_str(name);
        text.push('=');
        payload(&mut text, raw, value);
    }
    text.push_str("]}");
    text
}

fn fields(out: &mut String, map: Option<&PartitionMap>) {
    let Some(map) = map else { return out.push_str("null") };
    out.push('{');
    for (i, (name, value)) in map.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ok = write!(out, "{comma}{name}={value}");
    }
    out.push('}');
}

fn payload(out: &mut String, raw: &RecordBatch, at: Payload) {
    let mut text = match raw.payload(at) {
        PayloadRef::Null | PayloadRef::Value(_, None) => "null".to_owned(),
        PayloadRef::Text(text) => text.to_owned(),
        PayloadRef::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        PayloadRef::Value(_, Some(value)) => value_text(value).into_owned(),
    };
    super::failure::cut(&mut text, SHOWN_BYTES_MAX);
    out.push_str(&text);
}

/// Places have 32 bits: a batch is bounded far below that by `batch.max.bytes`.
fn place(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
