//! From consumed bytes to `SinkRecord`s: key, value and headers, in this order, and then the transformations.

use super::Converters;
use crate::{
    data::{DataError, Text},
    error::TaskError,
    header::{Header, Headers},
    sink::{PartitionTag, SinkRecord, SinkRecordParts, TopicPartition},
    task::{
        ports::{ConsumedBatch, ConsumedRecord},
        sink_offsets::{Positions, SinkOffsets},
    },
    transform::{ConnectRecord, Transformation},
};
use std::sync::Arc;

/// What became of a batch beside its records.
#[derive(Debug, Default)]
pub(super) struct Converted {
    /// How far the task is once the records are put.
    pub(super) progress: Positions,
    /// Owned partitions whose records were left out because they are paused.
    pub(super) missed: Vec<Arc<TopicPartition>>,
    /// How many records the transformations dropped.
    pub(super) filtered: u64,
    /// How many records were skipped, and what was wrong with the first of them.
    pub(super) skipped: Option<(u64, TaskError)>,
    /// Why the batch ends early: the task fails once the records before are put.
    pub(super) failure: Option<TaskError>,
}

/// What a record goes through.
pub(super) struct Stages<'a> {
    pub(super) converters: &'a Converters,
    pub(super) chain: &'a mut Option<Box<dyn Transformation>>,
    /// Records that do not come through are left out.
    pub(super) tolerant: bool,
}

/// Converts the records of a batch and appends them to `into`.
///
/// Records of partitions that are not owned are left out.
pub(super) fn convert(
    batch: &ConsumedBatch,
    offsets: &SinkOffsets,
    is_paused: impl Fn(&TopicPartition) -> bool,
    stages: &mut Stages<'_>,
    into: &mut Vec<SinkRecord>,
) -> Converted {
    let mut out = Converted::default();
    let mut tags: Vec<Option<Arc<PartitionTag>>> = Vec::with_capacity(batch.partitions.len());
    for partition in &batch.partitions {
        let tag = offsets.tag(partition).cloned();
        if tag.is_some() && is_paused(partition) {
            out.missed.push(Arc::clone(partition));
            tags.push(None);
        } else {
            tags.push(tag);
        }
    }
    into.reserve_exact(batch.records.len());
    for (index, record) in batch.records.iter().enumerate() {
        let Some(tag) = &tags[record.partition as usize] else { continue };
        let parts = record_parts(batch, record, &tag.partition.topic, stages.converters);
        let parts = parts.and_then(|parts| match &mut stages.chain {
            Some(chain) => transformed(&mut **chain, &tag.partition, parts),
            None => Ok(Some(parts)),
        });
        match parts {
            Ok(Some(parts)) => into.push(SinkRecord::from_parts(Arc::clone(tag), parts)),
            Ok(None) => out.filtered += 1,
            Err(why) => {
                let error = TaskError::fatal(format!(
                    "{} of record `{}@{}` {}",
                    why.part, tag.partition, record.offset, why.problem
                ));
                if stages.tolerant && why.tolerable {
                    out.skipped.get_or_insert((0, error)).0 += 1;
                } else {
                    out.failure = Some(error);
                    out.progress = progress_before(batch, &tags, index);
                    return out;
                }
            }
        }
    }
    let reached = batch.partitions.iter().zip(&batch.positions).zip(&tags);
    out.progress = reached.filter(|(_, tag)| tag.is_some()).map(|((p, at), _)| (Arc::clone(p), *at)).collect();
    out
}

/// How far the task is after the records before `failed`.
fn progress_before(batch: &ConsumedBatch, tags: &[Option<Arc<PartitionTag>>], failed: usize) -> Positions {
    let mut reached: Vec<Option<i64>> = vec![None; batch.partitions.len()];
    for record in &batch.records[..failed] {
        reached[record.partition as usize] = Some(record.offset + 1);
    }
    // Between the record before and the failed one lies nothing that could be lost.
    let record = &batch.records[failed];
    reached[record.partition as usize] = Some(record.offset);
    let owned = batch.partitions.iter().zip(tags).zip(reached).filter(|((_, tag), _)| tag.is_some());
    owned.filter_map(|((p, _), at)| Some((Arc::clone(p), at?))).collect()
}

/// Why a record could not be converted.
struct Unconvertible {
    part: Text,
    problem: String,
    tolerable: bool,
}

impl Unconvertible {
    fn unreadable(part: impl Into<Text>, error: &DataError) -> Self {
        Self { part: part.into(), problem: format!("cannot be read: {error}"), tolerable: true }
    }
}

fn record_parts(
    batch: &ConsumedBatch,
    record: &ConsumedRecord,
    topic: &str,
    converters: &Converters,
) -> Result<SinkRecordParts, Unconvertible> {
    let bytes = |at: Option<(u32, u32)>| at.map(|at| batch.bytes(at));
    let key =
        converters.key.read(topic, bytes(record.key).as_ref()).map_err(|e| Unconvertible::unreadable("key", &e))?;
    let value = converters
        .value
        .read(topic, bytes(record.value).as_ref())
        .map_err(|e| Unconvertible::unreadable("value", &e))?;
    let headers = headers(batch, record, topic, converters)?;
    // -1 is Kafka's "no timestamp". Below it no client writes, and no target could store it: never tolerated, as in Java.
    let timestamp = record.timestamp.filter(|at| *at != -1);
    if let Some(below) = timestamp.filter(|at| *at < -1) {
        return Err(Unconvertible {
            part: Text::from_static("timestamp"),
            problem: format!("is {below}; it must be -1 (none) or milliseconds since 1970"),
            tolerable: false,
        });
    }
    Ok(SinkRecordParts { offset: record.offset, timestamp, routed_topic: None, key, value, headers })
}

/// A record on its way through the transformations; `None` if they drop it.
fn transformed(
    chain: &mut dyn Transformation,
    from: &TopicPartition,
    parts: SinkRecordParts,
) -> Result<Option<SinkRecordParts>, Unconvertible> {
    let SinkRecordParts { offset, timestamp, key, value, headers, .. } = parts;
    let (topic, partition) = (from.topic.clone(), Some(from.partition));
    let record = ConnectRecord { topic, partition, timestamp, key, value, headers, offset: Some(offset) };
    let done = chain.apply(record).map_err(|e| Unconvertible {
        part: Text::from_static("transformation"),
        problem: format!("failed: {e}"),
        tolerable: true,
    })?;
    Ok(done.map(|ConnectRecord { topic, timestamp, key, value, headers, .. }| SinkRecordParts {
        offset,
        timestamp,
        routed_topic: (topic != from.topic).then_some(topic),
        key,
        value,
        headers,
    }))
}

fn headers(
    batch: &ConsumedBatch,
    record: &ConsumedRecord,
    topic: &str,
    converters: &Converters,
) -> Result<Headers, Unconvertible> {
    let (first, n) = (record.headers.0 as usize, record.headers.1 as usize);
    let mut headers = Headers::new();
    for (name, value) in &batch.headers[first..first + n] {
        let name = batch.bytes(*name);
        // As Java: what is not UTF-8 becomes replacement characters.
        let name = Text::try_from(name.clone()).unwrap_or_else(|_| String::from_utf8_lossy(&name).into());
        let bytes = value.map(|at| batch.bytes(at));
        let value = converters
            .header
            .read_header(topic, &name, bytes.as_ref())
            .map_err(|e| Unconvertible::unreadable(format!("header `{name}`"), &e))?;
        headers.push(Header::new(name, value.schema, value.value));
    }
    Ok(headers)
}
