//! From the records of one poll to the bytes of one produce batch: transformations, then converters.
//!
//! A record that cannot be taken becomes a dead letter at its own place in the batch, if the task has a dead letter
//! queue: it goes the way of the records around it, in the same transaction where there is one.

use super::{
    Converters,
    errors::{Failure, SourceLetters, Stage, TryAgain, offset_of},
    guard,
    ports::{ProduceBatch, ProduceRecord, Slice},
    submitted_records::Runs,
};
use crate::{
    converter::PassThrough,
    data::{DataError, SchemaAndValue, Text, value_text},
    erased::{DynConverter, DynTransformation},
    error::TaskError,
    header::{Header, Headers},
    source::{Entry, EntryKind, OffsetColumn, Payload, PayloadRef, RecordBatch},
    transform::ConnectRecord,
};
use std::{fmt, time::Duration};

/// Converts the batches of one task.
pub(crate) struct BatchConverter {
    converters: Converters,
    pass_key: PassThrough,
    pass_value: PassThrough,
    chain: Option<Box<dyn DynTransformation>>,
    tolerate: bool,
    /// The dead letter queue; only records that are skipped go there.
    letters: Option<SourceLetters>,
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
    /// Records that failed, by their entry: skipped as `errors.tolerance=all` allows, but for the one that ends the batch.
    pub(crate) failed: Vec<(usize, Failure)>,
    /// How many of the batch's records are dead letters.
    pub(crate) n_letters: u64,
    /// The batch ends before a record that must not be skipped.
    pub(crate) failure: Option<TaskError>,
}

impl BatchConverter {
    /// Without `tolerate`, the first record that fails ends its batch.
    pub(crate) fn new(
        converters: Converters,
        chain: Option<Box<dyn DynTransformation>>,
        tolerate: bool,
        letters: Option<SourceLetters>,
    ) -> Self {
        let (pass_key, pass_value) = (converters.key.pass_through(), converters.value.pass_through());
        Self { converters, pass_key, pass_value, chain, tolerate, letters: letters.filter(|_| tolerate) }
    }

    /// Begins with a batch; `spare` is an empty buffer to write to.
    pub(crate) fn begin(&self, raw: &mut RecordBatch, spare: Vec<u8>) -> Conversion {
        if self.chain.is_some() {
            raw.share_buffer();
        }
        Conversion { writer: Writer::new(spare, raw), next: 0 }
    }

    /// Converts the records of one poll, or the rest of them.
    ///
    /// `retry` is asked about each record that may be taken later, by its entry: how long to wait, or nothing to give it
    /// up. Answers the wait; the next call begins with that record, and what was converted before stays.
    pub(crate) fn go_on(
        &mut self,
        raw: &RecordBatch,
        offsets: &dyn OffsetColumn,
        conversion: &mut Conversion,
        retry: impl FnMut(usize) -> Option<Duration>,
    ) -> Option<TryAgain> {
        let Conversion { writer, next } = conversion;
        let done = guard::call("a converter or transformation", || self.convert(raw, offsets, writer, next, retry));
        done.unwrap_or_else(|panic| {
            writer.converted.failure = Some(panic);
            // The runs may be one record ahead of the records.
            let n = u32::try_from(writer.records.len()).unwrap_or(u32::MAX);
            writer.converted.runs.cut(n);
            None
        })
    }

    fn convert(
        &mut self,
        raw: &RecordBatch,
        offsets: &dyn OffsetColumn,
        writer: &mut Writer,
        next: &mut usize,
        mut retry: impl FnMut(usize) -> Option<Duration>,
    ) -> Option<TryAgain> {
        while let Some(entry) = raw.entries().get(*next) {
            let index = *next;
            *next += 1;
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
            if let Ok(Some(record)) = record {
                writer.records.push(record);
                writer.converted.runs.push(entry.slot, entry.offset, true);
                continue;
            }
            writer.out.truncate(n_bytes);
            writer.headers.truncate(n_headers);
            let mut letter = None;
            if let Err(failed) = record {
                let topic = &raw.topics()[entry.topic as usize];
                if failed.is_retriable()
                    && let Some(after) = retry(index)
                {
                    *next = index;
                    return Some(TryAgain { after, error: failed.describe(topic) });
                }
                if !self.tolerate || matches!(failed, Failed::Always(_)) {
                    writer.converted.failure = Some(failed.describe(topic));
                }
                if let Some(failure) = failed.into_failure(&self.converters) {
                    if let Some(letters) = &self.letters {
                        let offset = offset_of(raw.entries(), index, offsets);
                        let headers = letters.headers(topic, entry.slot, offset.as_ref(), &failure);
                        match writer.dead_letter(raw, entry, letters.topic.clone(), headers) {
                            Ok(record) => letter = Some(record),
                            Err(failed) => writer.converted.failure = Some(failed.describe(topic)),
                        }
                    }
                    writer.converted.failed.push((index, failure));
                }
                if writer.converted.failure.is_some() {
                    return None;
                }
            } else {
                writer.converted.filtered += 1;
            }
            writer.converted.runs.push(entry.slot, entry.offset, letter.is_some());
            if let Some(letter) = letter {
                writer.converted.n_letters += 1;
                writer.records.push(letter);
            }
        }
        None
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
        for (_, name, value) in raw.header_places(entry.headers) {
            let SchemaAndValue { schema, value } = raw.value(value);
            headers.push(Header::new(raw.text(name), schema, value));
        }
        let record = ConnectRecord {
            topic: raw.topics()[entry.topic as usize].clone(),
            partition: entry.partition,
            timestamp: entry.timestamp,
            key: raw.value(entry.key),
            value: raw.value(entry.value),
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
        let mut field = |converter: &dyn DynConverter, of: &SchemaAndValue, failed: fn(DataError) -> Failed| {
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

/// A batch on its way; see [`BatchConverter::go_on`].
pub(crate) struct Conversion {
    writer: Writer,
    /// The entry to go on with.
    next: usize,
}

impl Conversion {
    /// What has failed so far.
    pub(crate) fn failed(&self) -> &[(usize, Failure)] {
        &self.writer.converted.failed
    }

    /// The produce batch.
    ///
    /// Text and bytes that the converters pass through stay where they are: the buffer of the batch is handed on. If
    /// nothing of it is used, it stays in `raw`.
    pub(crate) fn finish(self, raw: &mut RecordBatch) -> Converted {
        let Writer { out, records, headers, topics, passed, mut converted } = self.writer;
        let passed = if passed { raw.take_buffer() } else { Vec::new() };
        converted.batch = ProduceBatch { first_seq: 0, buffers: [passed, out], topics, records, headers };
        converted
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
        converter: &dyn DynConverter,
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

    /// A record as it was emitted, for the dead letter queue: text and bytes stay where they are, other values are
    /// written as their text.
    fn dead_letter(
        &mut self,
        raw: &RecordBatch,
        entry: &Entry,
        topic: Text,
        context: Vec<(&'static str, Option<String>)>,
    ) -> Result<ProduceRecord, Failed> {
        let first_header = self.headers.len();
        for (_, (start, len), value) in raw.header_places(entry.headers) {
            self.passed = true;
            let value = self.as_text(raw, value)?;
            self.headers.push((Slice { buffer: 0, start, len }, value));
        }
        let (key, value) = (self.as_text(raw, entry.key)?, self.as_text(raw, entry.value)?);
        for (name, value) in context {
            let name = self.write(name.as_bytes())?;
            let value = value.map(|text| self.write(text.as_bytes())).transpose()?;
            self.headers.push((name, value));
        }
        let headers = self.headers_from(first_header)?;
        let (topic, timestamp) = (self.intern(topic), entry.timestamp.filter(|at| *at >= 0));
        Ok(ProduceRecord { topic, partition: None, timestamp, key, value, headers })
    }

    fn as_text(&mut self, raw: &RecordBatch, at: Payload) -> Result<Option<Slice>, Failed> {
        match at {
            Payload::Null => Ok(None),
            Payload::Text { start, len } | Payload::Bytes { start, len } => Ok(self.pass(start, len)),
            Payload::Owned(_) => match raw.payload(at) {
                PayloadRef::Value(_, Some(value)) => self.write(value_text(value).as_bytes()).map(Some),
                _ => Ok(None),
            },
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<Slice, Failed> {
        let start = self.out.len();
        self.out.extend_from_slice(bytes);
        self.written(start)
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
    fn is_retriable(&self) -> bool {
        match self {
            Self::Transformation(e) | Self::Key(e) | Self::Value(e) | Self::Header(e) => e.is_retriable(),
            Self::Always(_) => false,
        }
    }

    fn describe(&self, topic: &str) -> TaskError {
        let (stage, error) = match self {
            Self::Transformation(e) => ("a transformation", e),
            Self::Key(e) => ("the key converter", e),
            Self::Value(e) => ("the value converter", e),
            Self::Header(e) => ("the header converter", e),
            Self::Always(why) => {
                return TaskError::fatal(format!("a record for topic `{topic}` cannot be sent: {why}"));
            }
        };
        let text = format!("{stage} failed on a record for topic `{topic}`: {error}");
        if error.is_retriable() { TaskError::retriable(text) } else { TaskError::fatal(text) }
    }

    /// As it is reported; nothing of what is never tolerated.
    fn into_failure(self, converters: &Converters) -> Option<Failure> {
        Some(match self {
            Self::Transformation(e) => Failure::transformation(e),
            Self::Key(e) => Failure::converter(Stage::KeyConverter, converters.key.class_name(), e),
            Self::Value(e) => Failure::converter(Stage::ValueConverter, converters.value.class_name(), e),
            Self::Header(e) => Failure::converter(Stage::HeaderConverter, converters.header.header_class_name(), e),
            Self::Always(_) => return None,
        })
    }
}

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
