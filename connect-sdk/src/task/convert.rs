//! From the records of one poll to the bytes of one produce batch: transformations, then converters.

use super::{
    Converters, guard,
    ports::{ProduceBatch, ProduceRecord, Slice},
    submitted_records::Runs,
};
use crate::{
    converter::{Converter, PassThrough},
    data::{DataError, SchemaAndValue, Text},
    error::TaskError,
    header::{Header, Headers},
    source::{Entry, EntryKind, Payload, PayloadRef, RecordBatch},
    transform::{ConnectRecord, Transformation},
};
use std::fmt;

/// Converts the batches of one task.
pub(crate) struct BatchConverter {
    converters: Converters,
    pass_key: PassThrough,
    pass_value: PassThrough,
    chain: Option<Box<dyn Transformation>>,
    tolerate: bool,
}

/// What became of one batch.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    /// What goes to the producer; its first sequence number is still to be set.
    pub(crate) batch: ProduceBatch,
    /// All entries up to the failure, sent or not.
    pub(crate) runs: Runs,
    /// Records that the transformations dropped.
    pub(crate) filtered: u64,
    /// Records that could not be converted and were skipped, as `errors.tolerance=all` allows.
    pub(crate) failed: u64,
    /// Why the first of them was skipped.
    pub(crate) first_failure: Option<TaskError>,
    /// The batch ends before a record that must not be skipped.
    pub(crate) failure: Option<TaskError>,
}

impl BatchConverter {
    pub(crate) fn new(converters: Converters, chain: Option<Box<dyn Transformation>>, tolerate: bool) -> Self {
        let (pass_key, pass_value) = (converters.key.pass_through(), converters.value.pass_through());
        Self { converters, pass_key, pass_value, chain, tolerate }
    }

    /// Converts the records of one poll; `spare` is an empty buffer to write to.
    ///
    /// Text and bytes that the converters pass through stay where they are: the buffer of the batch is handed on. If
    /// nothing of it is used, it stays in `raw`.
    pub(crate) fn convert(&mut self, raw: &mut RecordBatch, spare: Vec<u8>) -> Converted {
        let mut writer = Writer::new(spare, raw);
        let done = guard::call("a converter or transformation", || self.convert_all(raw, &mut writer));
        let Writer { out, records, headers, topics, passed, mut converted } = writer;
        if let Err(panic) = done {
            converted.failure = Some(panic);
            // The runs may be one record ahead of the records.
            let n = u32::try_from(records.len()).unwrap_or(u32::MAX);
            converted.runs.cut(n);
        }
        let passed = if passed { raw.take_buffer() } else { Vec::new() };
        converted.batch = ProduceBatch { first_seq: 0, buffers: [passed, out], topics, records, headers };
        converted
    }

    fn convert_all(&mut self, raw: &RecordBatch, writer: &mut Writer) {
        let tolerate = self.tolerate;
        for entry in raw.entries() {
            if entry.kind == EntryKind::Advance {
                writer.converted.runs.push(entry.slot, entry.offset, false);
                continue;
            }
            let (n_bytes, n_headers) = (writer.out.len(), writer.headers.len());
            let record = if self.chain.is_some() {
                self.transformed(raw, entry, writer)
            } else {
                self.plain(raw, entry, writer)
            };
            let converted = &mut writer.converted;
            match record {
                Ok(Some(record)) => {
                    writer.records.push(record);
                    converted.runs.push(entry.slot, entry.offset, true);
                    continue;
                }
                Ok(None) => converted.filtered += 1,
                Err(failed) => {
                    let fatal = !tolerate || matches!(failed, Failed::Always(_));
                    let topic = &raw.topics()[entry.topic as usize];
                    let error = failed.into_error(topic);
                    if fatal {
                        converted.failure = Some(error);
                    } else {
                        converted.failed += 1;
                        converted.first_failure.get_or_insert(error);
                    }
                }
            }
            writer.out.truncate(n_bytes);
            writer.headers.truncate(n_headers);
            if writer.converted.failure.is_some() {
                break;
            }
            writer.converted.runs.push(entry.slot, entry.offset, false);
        }
    }

    /// A record as its connector emitted it.
    fn plain(&self, raw: &RecordBatch, entry: &Entry, writer: &mut Writer) -> Result<Option<ProduceRecord>, Failed> {
        let timestamp = timestamp(entry.timestamp)?;
        let topic = &raw.topics()[entry.topic as usize];
        let first_header = writer.headers.len();
        if !entry.headers.is_empty() {
            for (name, (start, len), value) in raw.header_places(entry.headers) {
                writer.passed = true;
                let at = writer.out.len();
                let converter = &self.converters.header;
                let some =
                    converter.write_header(topic, name, raw.payload(value), &mut writer.out).map_err(Failed::Header)?;
                let value = if some { Some(writer.written(at)?) } else { None };
                writer.headers.push((Slice { buffer: 0, start, len }, value));
            }
        }
        let key = writer.field(topic, raw, entry.key, self.pass_key, &*self.converters.key, Failed::Key)?;
        let value = writer.field(topic, raw, entry.value, self.pass_value, &*self.converters.value, Failed::Value)?;
        let headers = writer.headers_from(first_header)?;
        Ok(Some(ProduceRecord { topic: entry.topic, partition: entry.partition, timestamp, key, value, headers }))
    }

    /// A record on its way through the transformations; `None` if they drop it.
    fn transformed(
        &mut self,
        raw: &RecordBatch,
        entry: &Entry,
        writer: &mut Writer,
    ) -> Result<Option<ProduceRecord>, Failed> {
        let Some(chain) = &mut self.chain else { return self.plain(raw, entry, writer) };
        let mut headers = Headers::new();
        for (name, _, value) in raw.header_places(entry.headers) {
            let SchemaAndValue { schema, value } = raw.payload(value).to_owned_value();
            headers.push(Header::new(name, schema, value));
        }
        let record = ConnectRecord {
            topic: raw.topics()[entry.topic as usize].clone(),
            partition: entry.partition,
            timestamp: entry.timestamp,
            key: raw.payload(entry.key).to_owned_value(),
            value: raw.payload(entry.value).to_owned_value(),
            headers,
            offset: None,
        };
        let Some(record) = chain.apply(record).map_err(Failed::Transformation)? else { return Ok(None) };
        let timestamp = timestamp(record.timestamp)?;
        let first_header = writer.headers.len();
        for header in record.headers.iter() {
            let name_at = writer.out.len();
            writer.out.extend_from_slice(header.key().as_bytes());
            let name = writer.written(name_at)?;
            let at = writer.out.len();
            let value = PayloadRef::Value(header.schema(), header.value());
            let converter = &self.converters.header;
            let some =
                converter.write_header(&record.topic, header.key(), value, &mut writer.out).map_err(Failed::Header)?;
            let value = if some { Some(writer.written(at)?) } else { None };
            writer.headers.push((name, value));
        }
        let mut field = |converter: &dyn Converter, of: &SchemaAndValue, failed: fn(DataError) -> Failed| {
            let at = writer.out.len();
            let value = match (&of.schema, &of.value) {
                (None, None) => PayloadRef::Null,
                (schema, value) => PayloadRef::Value(schema.as_ref(), value.as_ref()),
            };
            let some = converter.write(&record.topic, value, &mut writer.out).map_err(failed)?;
            if some { writer.written(at).map(Some) } else { Ok(None) }
        };
        let key = field(&*self.converters.key, &record.key, Failed::Key)?;
        let value = field(&*self.converters.value, &record.value, Failed::Value)?;
        let topic = writer.intern(record.topic);
        let headers = writer.headers_from(first_header)?;
        Ok(Some(ProduceRecord { topic, partition: record.partition, timestamp, key, value, headers }))
    }
}

impl fmt::Debug for BatchConverter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchConverter").field("chain", &self.chain.is_some()).finish_non_exhaustive()
    }
}

/// A produce batch in the making.
struct Writer {
    out: Vec<u8>,
    records: Vec<ProduceRecord>,
    headers: Vec<(Slice, Option<Slice>)>,
    topics: Vec<Text>,
    /// Whether something refers to the buffer of the raw batch.
    passed: bool,
    converted: Converted,
}

impl Writer {
    fn new(spare: Vec<u8>, raw: &RecordBatch) -> Self {
        Self {
            out: spare,
            records: Vec::with_capacity(raw.len()),
            headers: Vec::new(),
            topics: raw.topics().to_vec(),
            passed: false,
            converted: Converted::default(),
        }
    }

    /// A key or value; passed through where that is what the converter would do.
    #[inline]
    fn field(
        &mut self,
        topic: &str,
        raw: &RecordBatch,
        at: Payload,
        pass: PassThrough,
        converter: &dyn Converter,
        failed: fn(DataError) -> Failed,
    ) -> Result<Option<Slice>, Failed> {
        match at {
            Payload::Text { start, len } if pass.text => Ok(self.pass(start, len)),
            Payload::Bytes { start, len } if pass.bytes => Ok(self.pass(start, len)),
            Payload::Null if pass.text || pass.bytes => Ok(None),
            other => {
                let start = self.out.len();
                let some = converter.write(topic, raw.payload(other), &mut self.out).map_err(failed)?;
                if some { self.written(start).map(Some) } else { Ok(None) }
            }
        }
    }

    #[inline]
    fn pass(&mut self, start: u32, len: u32) -> Option<Slice> {
        self.passed = true;
        Some(Slice { buffer: 0, start, len })
    }

    /// The place of what was written since the buffer was `start` bytes long.
    fn written(&self, start: usize) -> Result<Slice, Failed> {
        let place = |n: usize| u32::try_from(n).map_err(|_| Failed::Always(TOO_MUCH.to_owned()));
        place(self.out.len())?;
        Ok(Slice { buffer: 1, start: place(start)?, len: place(self.out.len() - start)? })
    }

    /// The range of the headers since there were `first` of them.
    fn headers_from(&self, first: usize) -> Result<(u32, u32), Failed> {
        let place = |n: usize| u32::try_from(n).map_err(|_| Failed::Always(TOO_MUCH.to_owned()));
        Ok((place(first)?, place(self.headers.len() - first)?))
    }

    fn intern(&mut self, topic: Text) -> u32 {
        let at = self.topics.iter().position(|t| *t == topic).unwrap_or_else(|| {
            self.topics.push(topic);
            self.topics.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}

const TOO_MUCH: &str = "the converted records of one poll take more than 4 GiB; lower `batch.max.bytes`";

/// The stage at which a record failed, and why.
enum Failed {
    Transformation(DataError),
    Key(DataError),
    Value(DataError),
    Header(DataError),
    /// Not to be tolerated.
    Always(String),
}

impl Failed {
    fn into_error(self, topic: &str) -> TaskError {
        let (stage, error) = match self {
            Self::Transformation(e) => ("a transformation", e),
            Self::Key(e) => ("the key converter", e),
            Self::Value(e) => ("the value converter", e),
            Self::Header(e) => ("the header converter", e),
            Self::Always(why) => {
                return TaskError::fatal(format!("a record for topic `{topic}` cannot be sent: {why}"));
            }
        };
        TaskError::fatal(Unconvertible { stage, topic: topic.to_owned(), error })
    }
}

/// A record that a stage cannot take.
#[derive(Debug)]
struct Unconvertible {
    stage: &'static str,
    topic: String,
    error: DataError,
}

impl fmt::Display for Unconvertible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed on a record for topic `{}`: {}", self.stage, self.topic, self.error)
    }
}

impl std::error::Error for Unconvertible {}

/// As Kafka: -1 stands for no timestamp, any other negative one fails the task whatever is tolerated.
fn timestamp(of: Option<i64>) -> Result<Option<i64>, Failed> {
    match of {
        None | Some(-1) => Ok(None),
        Some(t) if t >= 0 => Ok(Some(t)),
        Some(t) => Err(Failed::Always(format!(
            "its timestamp is {t}; it must be milliseconds since 1970, 0 or greater (-1 for none)"
        ))),
    }
}

#[cfg(test)]
mod tests;
