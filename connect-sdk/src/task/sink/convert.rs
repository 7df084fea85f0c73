//! From consumed bytes to `SinkRecord`s: key, value and headers, in this order, and then the transformations.

use super::Converters;
use crate::{
    data::{DataError, Text},
    erased::DynTransformation,
    error::TaskError,
    header::{Header, Headers},
    sink::{OriginalRecord, SinkRecord, SinkRecordParts, TopicPartition},
    task::{
        errors::{Failure, Stage, TryAgain},
        ports::{ConsumedBatch, ConsumedRecord},
        sink_offsets::{Positions, SinkOffsets},
    },
    transform::ConnectRecord,
};
use std::{sync::Arc, time::Duration};

/// What a record goes through.
pub(super) struct Stages<'a> {
    pub(super) converters: &'a Converters,
    pub(super) chain: &'a mut Option<Box<dyn DynTransformation>>,
    /// Records that do not come through are left out.
    pub(super) tolerant: bool,
    /// Records keep the bytes that they came as, for the dead letter queue.
    pub(super) keep_original: bool,
}

/// A batch on its way to the sink. It can stop at a record that is to be tried again, and goes on with it later: what was
/// converted before stays.
#[derive(Debug)]
pub(super) struct Conversion {
    batch: Arc<ConsumedBatch>,
    /// Per partition of the batch: its records go to the sink.
    wanted: Vec<bool>,
    /// The record to go on with.
    next: usize,
    pub(super) records: Vec<SinkRecord>,
    /// How many records the transformations dropped.
    pub(super) filtered: u64,
    /// The records that failed, by their place in the batch.
    pub(super) failed: Vec<(u32, Failure)>,
    /// Why the batch ends early: the task fails once the records before are put.
    pub(super) failure: Option<TaskError>,
}

impl Conversion {
    /// Begins with a batch, of which records of partitions that are not owned are left out. Answers, too, the owned
    /// partitions whose records are left out because they are paused.
    pub(super) fn new(
        batch: ConsumedBatch,
        offsets: &SinkOffsets,
        is_paused: impl Fn(&TopicPartition) -> bool,
        mut spare: Vec<SinkRecord>,
    ) -> (Self, Vec<Arc<TopicPartition>>) {
        let mut missed = Vec::new();
        let mut wanted = Vec::with_capacity(batch.partitions.len());
        for partition in &batch.partitions {
            let owned = offsets.owns(partition);
            let paused = owned && is_paused(partition);
            if paused {
                missed.push(Arc::clone(partition));
            }
            wanted.push(owned && !paused);
        }
        spare.reserve_exact(batch.records.len());
        let conversion = Self {
            batch: Arc::new(batch),
            wanted,
            next: 0,
            records: spare,
            filtered: 0,
            failed: Vec::new(),
            failure: None,
        };
        (conversion, missed)
    }

    /// The batch.
    pub(super) fn batch(&self) -> &Arc<ConsumedBatch> {
        &self.batch
    }

    /// Its partitions whose records go to the sink.
    pub(super) fn partitions(&self) -> impl Iterator<Item = &Arc<TopicPartition>> {
        self.batch.partitions.iter().zip(&self.wanted).filter(|(_, wanted)| **wanted).map(|(p, _)| p)
    }

    /// Leaves the records of partitions out that are given up: they belong to another task now.
    pub(super) fn forget(&mut self, partitions: &[Arc<TopicPartition>]) {
        for (partition, wanted) in self.batch.partitions.iter().zip(&mut self.wanted) {
            *wanted &= !partitions.contains(partition);
        }
        let (batch, wanted) = (&self.batch, &self.wanted);
        self.failed.retain(|(index, _)| wanted[batch.records[*index as usize].partition as usize]);
        self.records.retain(|r| !partitions.iter().any(|p| p.partition == r.partition() && *p.topic == *r.topic()));
    }

    /// Converts up to the end of the batch, or up to a record that fails the task.
    ///
    /// `retry` is asked about each record that may be taken later, by its place: how long to wait, or nothing to give it
    /// up. Answers the wait; the next call begins with that record.
    pub(super) fn go_on(
        &mut self,
        stages: &mut Stages<'_>,
        offsets: &SinkOffsets,
        mut retry: impl FnMut(usize) -> Option<Duration>,
    ) -> Option<TryAgain> {
        let batch = Arc::clone(&self.batch);
        while let Some(record) = batch.records.get(self.next) {
            let index = self.next;
            let partition = &batch.partitions[record.partition as usize];
            let tag = offsets.tag(partition).filter(|_| self.wanted[record.partition as usize]);
            let Some(tag) = tag else {
                self.next += 1;
                continue;
            };
            let place = u32::try_from(index).unwrap_or(u32::MAX);
            match through(&batch, record, partition, stages) {
                Ok(Some(parts)) => {
                    let mut record = SinkRecord::from_parts(Arc::clone(tag), parts);
                    if stages.keep_original {
                        record.keep_original(OriginalRecord { batch: Arc::clone(&batch), index: place });
                    }
                    self.records.push(record);
                }
                Ok(None) => self.filtered += 1,
                Err(Refused::Never(why)) => {
                    self.failure = Some(TaskError::fatal(format!("record `{partition}@{}` {why}", record.offset)));
                    return None;
                }
                Err(Refused::Step(step)) => {
                    let is_retriable = step.error.is_retriable();
                    let error = step.describe(partition, record.offset);
                    if is_retriable && let Some(after) = retry(index) {
                        return Some(TryAgain { after, error });
                    }
                    self.failed.push((place, step.failure()));
                    if !stages.tolerant {
                        self.failure = Some(error);
                        return None;
                    }
                }
            }
            self.next += 1;
        }
        None
    }

    /// How far the task is once the records are put.
    pub(super) fn progress(&self) -> Positions {
        let mut reached: Vec<Option<i64>> = self.batch.positions.iter().copied().map(Some).collect();
        if let Some(stopped_at) = self.batch.records.get(self.next) {
            reached = vec![None; self.batch.partitions.len()];
            for record in &self.batch.records[..self.next] {
                reached[record.partition as usize] = Some(record.offset + 1);
            }
            // Between the record before and the failed one lies nothing that could be lost.
            reached[stopped_at.partition as usize] = Some(stopped_at.offset);
        }
        let owned = self.batch.partitions.iter().zip(&self.wanted).zip(reached).filter(|((_, wanted), _)| **wanted);
        owned.filter_map(|((p, _), at)| Some((Arc::clone(p), at?))).collect()
    }
}

/// Why a record does not get through.
enum Refused {
    Step(Box<StepError>),
    /// Not to be tolerated.
    Never(String),
}

impl Refused {
    fn step(stage: Stage, class: &'static str, error: DataError) -> Self {
        Self::Step(Box::new(StepError { stage, class, header: None, error }))
    }
}

/// A step that failed.
struct StepError {
    stage: Stage,
    class: &'static str,
    /// The header whose value cannot be read.
    header: Option<Text>,
    error: DataError,
}

impl StepError {
    fn describe(&self, partition: &TopicPartition, offset: i64) -> TaskError {
        let error = &self.error;
        let text = match (self.stage, &self.header) {
            (Stage::KeyConverter, _) => format!("key of record `{partition}@{offset}` cannot be read: {error}"),
            (Stage::HeaderConverter, Some(name)) => {
                format!("header `{name}` of record `{partition}@{offset}` cannot be read: {error}")
            }
            (Stage::Transformation, _) => format!("a transformation failed on record `{partition}@{offset}`: {error}"),
            _ => format!("value of record `{partition}@{offset}` cannot be read: {error}"),
        };
        if error.is_retriable() { TaskError::retriable(text) } else { TaskError::fatal(text) }
    }

    fn failure(self) -> Failure {
        match self.stage {
            Stage::Transformation => Failure::transformation(self.error),
            stage => Failure::converter(stage, self.class, self.error),
        }
    }
}

/// A record on its way through all steps; `None` if the transformations drop it.
fn through(
    batch: &ConsumedBatch,
    record: &ConsumedRecord,
    partition: &TopicPartition,
    stages: &mut Stages<'_>,
) -> Result<Option<SinkRecordParts>, Refused> {
    let parts = record_parts(batch, record, &partition.topic, stages.converters)?;
    match stages.chain {
        Some(chain) => transformed(&mut **chain, partition, parts),
        None => Ok(Some(parts)),
    }
}

fn record_parts(
    batch: &ConsumedBatch,
    record: &ConsumedRecord,
    topic: &str,
    converters: &Converters,
) -> Result<SinkRecordParts, Refused> {
    let bytes = |at: Option<(u32, u32)>| at.map(|at| batch.bytes(at));
    let key = converters
        .key
        .read(topic, bytes(record.key).as_ref())
        .map_err(|error| Refused::step(Stage::KeyConverter, converters.key.class_name(), error))?;
    let value = converters
        .value
        .read(topic, bytes(record.value).as_ref())
        .map_err(|error| Refused::step(Stage::ValueConverter, converters.value.class_name(), error))?;
    let headers = headers(batch, record, topic, converters)?;
    // -1 is Kafka's "no timestamp". Below it no client writes, and no target could store it: never tolerated, as in Java.
    let timestamp = record.timestamp.filter(|at| *at != -1);
    if let Some(below) = timestamp.filter(|at| *at < -1) {
        let why = format!("has the timestamp {below}; it must be -1 (none) or milliseconds since 1970");
        return Err(Refused::Never(why));
    }
    Ok(SinkRecordParts { offset: record.offset, timestamp, routed_topic: None, key, value, headers })
}

fn transformed(
    chain: &mut dyn DynTransformation,
    from: &TopicPartition,
    parts: SinkRecordParts,
) -> Result<Option<SinkRecordParts>, Refused> {
    let SinkRecordParts { offset, timestamp, key, value, headers, .. } = parts;
    let (topic, partition) = (from.topic.clone(), Some(from.partition));
    let record = ConnectRecord { topic, partition, timestamp, key, value, headers, offset: Some(offset) };
    let done = chain.apply(record).map_err(|error| Refused::step(Stage::Transformation, "", error))?;
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
) -> Result<Headers, Refused> {
    let (first, n) = (record.headers.0 as usize, record.headers.1 as usize);
    let mut headers = Headers::new();
    for (name, value) in &batch.headers[first..first + n] {
        let name = batch.bytes(*name);
        // As Java: what is not UTF-8 becomes replacement characters.
        let name = Text::try_from(name.clone()).unwrap_or_else(|_| String::from_utf8_lossy(&name).into());
        let bytes = value.map(|at| batch.bytes(at));
        let value = converters.header.read_header(topic, &name, bytes.as_ref()).map_err(|error| {
            let class = converters.header.header_class_name();
            let stage = Stage::HeaderConverter;
            Refused::Step(Box::new(StepError { stage, class, header: Some(name.clone()), error }))
        })?;
        headers.push(Header::new(name, value.schema, value.value));
    }
    Ok(headers)
}
