//! `RecordBatch`: the records of one poll in one buffer, as the task and the runtime see them.

use super::{
    buffer::Buffer,
    fields::OffsetMap,
    record::{Field, Record},
};
use crate::data::{Schema, SchemaAndValue, Text, Value};
use bytes::Bytes;
use std::{collections::HashMap, fmt, ops::Range, sync::Arc};

/// How large a batch may grow before [`Batch::is_full`](super::Batch::is_full) answers true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Records, from `batch.max.records`.
    pub records: usize,
    /// Bytes of keys, values and headers, from `batch.max.bytes`.
    pub bytes: usize,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { records: 2000, bytes: 1024 * 1024 }
    }
}

/// How many topics of a batch are searched one by one.
const TOPICS_SEARCHED_MAX: usize = 8;

/// The records of one poll. Text and bytes stand one behind the other in `buffer`; everything else is in `owned`.
#[derive(Debug, Default)]
pub struct RecordBatch {
    buffer: Buffer,
    entries: Vec<Entry>,
    topics: Vec<Text>,
    /// The places of `topics`, kept only while there are many.
    topic_index: HashMap<Text, u32>,
    headers: Vec<RawHeader>,
    owned: Vec<SchemaAndValue>,
}

/// A record, or an offset without a record, at its place in the order of the poll.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// What the transaction does after it.
    pub mark: Mark,
    /// Index into [`RecordBatch::topics`].
    pub topic: u32,
    /// Which of the task's source partitions it came from.
    pub slot: u32,
    /// Index into the batch's offsets; `None` for all but the last record of a group.
    pub offset: Option<u32>,
    /// The Kafka partition, if the connector chose one.
    pub partition: Option<i32>,
    /// Milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// The key.
    pub key: Payload,
    /// The value.
    pub value: Payload,
    /// The headers, in [`RecordBatch::headers`].
    pub headers: HeaderRange,
}

/// The headers of one record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeaderRange {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl HeaderRange {
    /// True if the record has no headers.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// What an [`Entry`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A record to produce.
    Record,
    /// An offset alone: nothing is produced, but the position moves (KIP-910).
    Advance,
}

/// A connector-defined transaction boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// None here.
    None,
    /// Commit after this entry.
    Commit,
    /// Abort after this entry: the records are gone on purpose, the offsets are stored.
    Abort,
}

/// Where the bytes of a key, value or header value are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// None.
    Null,
    /// UTF-8 in the buffer, with schema STRING.
    Text {
        /// First byte.
        start: u32,
        /// How many bytes.
        len: u32,
    },
    /// Bytes in the buffer, with schema BYTES.
    Bytes {
        /// First byte.
        start: u32,
        /// How many bytes.
        len: u32,
    },
    /// Index into the owned values.
    Owned(u32),
}

/// A key, value or header value as a converter gets it.
#[derive(Debug, Clone, Copy)]
pub enum PayloadRef<'a> {
    /// No value and no schema.
    Null,
    /// Text, schema STRING.
    Text(&'a str),
    /// Bytes, schema BYTES.
    Bytes(&'a [u8]),
    /// A value with its schema, either of which may be absent.
    Value(Option<&'a Schema>, Option<&'a Value>),
}

impl PayloadRef<'_> {
    /// The owned form, which copies text and bytes.
    #[must_use]
    pub fn to_owned_value(self) -> SchemaAndValue {
        match self {
            PayloadRef::Null => SchemaAndValue { schema: None, value: None },
            PayloadRef::Text(t) => {
                SchemaAndValue { schema: Some(Schema::string()), value: Some(Value::String(t.into())) }
            }
            PayloadRef::Bytes(b) => {
                SchemaAndValue { schema: Some(Schema::bytes()), value: Some(Value::Bytes(Bytes::copy_from_slice(b))) }
            }
            PayloadRef::Value(schema, value) => SchemaAndValue { schema: schema.cloned(), value: value.cloned() },
        }
    }
}

/// A header of a record in a batch.
#[derive(Debug, Clone)]
pub struct RawHeader {
    pub(super) name: (u32, u32),
    /// Where its value is.
    pub value: Payload,
}

impl RecordBatch {
    /// All entries in the order of the poll.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The topics of the batch, each once.
    #[must_use]
    pub fn topics(&self) -> &[Text] {
        &self.topics
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if nothing was emitted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of text and bytes in the buffer.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// The key, value or header value at a place.
    #[must_use]
    pub fn payload(&self, at: Payload) -> PayloadRef<'_> {
        match at {
            Payload::Null => PayloadRef::Null,
            Payload::Text { start, len } => PayloadRef::Text(text_at(&self.buffer, start, len)),
            Payload::Bytes { start, len } => PayloadRef::Bytes(&self.buffer[range(start, len)]),
            Payload::Owned(i) => {
                let owned = &self.owned[i as usize];
                PayloadRef::Value(owned.schema.as_ref(), owned.value.as_ref())
            }
        }
    }

    /// The headers of an entry, as name and place of the value.
    pub fn headers(&self, of: HeaderRange) -> impl ExactSizeIterator<Item = (&str, Payload)> {
        let (start, len) = (of.start as usize, of.len as usize);
        self.headers[start..start + len].iter().map(|h| (text_at(&self.buffer, h.name.0, h.name.1), h.value))
    }

    /// As [`Self::headers`], with the place of each name in the buffer between.
    pub fn header_places(&self, of: HeaderRange) -> impl ExactSizeIterator<Item = (&str, (u32, u32), Payload)> {
        let (start, len) = (of.start as usize, of.len as usize);
        self.headers[start..start + len].iter().map(|h| (text_at(&self.buffer, h.name.0, h.name.1), h.name, h.value))
    }

    /// Takes everything behind the first `n` entries out, as a batch of its own.
    ///
    /// Entries write one behind the other, so what belongs to the later ones is the end of each part of the batch.
    #[must_use]
    pub fn split_off(&mut self, n: usize) -> Self {
        let mut entries = self.entries.split_off(n.min(self.entries.len()));
        let (bytes, headers, owned) = self.first_places(&entries);
        let mut later = Self {
            buffer: Buffer::Own(self.buffer.own().split_off(bytes)),
            entries: Vec::new(),
            topics: self.topics.clone(),
            topic_index: HashMap::new(),
            headers: self.headers.split_off(headers),
            owned: self.owned.split_off(owned),
        };
        let (bytes, headers, owned) = (index(bytes), index(headers), index(owned));
        let moved = |at: Payload| match at {
            Payload::Null => Payload::Null,
            Payload::Text { start, len } => Payload::Text { start: start - bytes, len },
            Payload::Bytes { start, len } => Payload::Bytes { start: start - bytes, len },
            Payload::Owned(i) => Payload::Owned(i - owned),
        };
        for entry in &mut entries {
            entry.key = moved(entry.key);
            entry.value = moved(entry.value);
            // A range of no headers stands anywhere, perhaps before the cut.
            entry.headers.start = if entry.headers.is_empty() { 0 } else { entry.headers.start - headers };
        }
        for header in &mut later.headers {
            header.name.0 -= bytes;
            header.value = moved(header.value);
        }
        later.entries = entries;
        later
    }

    /// Where the first byte, header and owned value of these entries stand, which are the last ones of the batch.
    fn first_places(&self, entries: &[Entry]) -> (usize, usize, usize) {
        let headers = entries.iter().find(|e| !e.headers.is_empty()).map(|e| e.headers.start as usize);
        let of_headers = |of: HeaderRange| {
            let (start, len) = (of.start as usize, of.len as usize);
            let name = |h: &RawHeader| Payload::Text { start: h.name.0, len: h.name.1 };
            self.headers[start..start + len].iter().flat_map(move |h| [name(h), h.value])
        };
        let places = || entries.iter().flat_map(|e| [e.key, e.value].into_iter().chain(of_headers(e.headers)));
        let bytes = places().find_map(|at| match at {
            Payload::Text { start, .. } | Payload::Bytes { start, .. } => Some(start as usize),
            Payload::Null | Payload::Owned(_) => None,
        });
        let owned = places().find_map(|at| if let Payload::Owned(i) = at { Some(i as usize) } else { None });
        (bytes.unwrap_or(self.buffer.len()), headers.unwrap_or(self.headers.len()), owned.unwrap_or(self.owned.len()))
    }

    /// Gives the buffer away, for converters that pass bytes through; the places of text and bytes stay valid in it,
    /// and this batch must not be asked for them any more.
    #[must_use]
    pub fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(self.buffer.own())
    }

    /// Gives the buffer away for other contents, if nobody has a part of it; without memory otherwise. This batch must
    /// not be asked for text and bytes any more.
    #[must_use]
    pub fn spent_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer).spent()
    }

    /// From now on [`Self::value`] and [`Self::text`] do not copy: they give parts of the buffer.
    pub fn share_buffer(&mut self) {
        self.buffer.share();
    }

    /// The text at a place, such as a header's name, to be kept: a copy, or a part of a shared buffer.
    ///
    /// # Panics
    /// No text was put there.
    #[must_use]
    pub fn text(&self, (start, len): (u32, u32)) -> Text {
        match &self.buffer {
            Buffer::Own(bytes) => text_at(bytes, start, len).into(),
            Buffer::Shared(bytes) => Text::try_from(bytes.slice(range(start, len))).expect(WHOLE_STRINGS),
        }
    }

    /// The key, value or header value at a place, to be kept: text and bytes are copied, or parts of a shared buffer.
    #[must_use]
    pub fn value(&self, at: Payload) -> SchemaAndValue {
        match (at, &self.buffer) {
            (Payload::Text { start, len }, Buffer::Shared(_)) => {
                SchemaAndValue { schema: Some(Schema::string()), value: Some(self.text((start, len)).into()) }
            }
            (Payload::Bytes { start, len }, Buffer::Shared(bytes)) => {
                let bytes = bytes.slice(range(start, len));
                SchemaAndValue { schema: Some(Schema::bytes()), value: Some(bytes.into()) }
            }
            (at, _) => self.payload(at).to_owned_value(),
        }
    }

    /// Takes back a spent buffer, so that its memory is used again.
    pub fn reuse_buffer(&mut self, mut buffer: Vec<u8>) {
        if self.buffer.is_empty() && self.buffer.own().capacity() < buffer.capacity() {
            buffer.clear();
            self.buffer = Buffer::Own(buffer);
        }
    }

    #[cfg(test)]
    pub(crate) fn buffer_address(&self) -> *const u8 {
        self.buffer.as_ptr()
    }

    /// An empty batch with room for as many entries as a batch before it had.
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self { entries: Vec::with_capacity(entries), ..Self::default() }
    }

    /// The last entry's mark, for transaction marks.
    pub(super) fn last_mark(&mut self) -> Option<&mut Mark> {
        self.entries.last_mut().map(|e| &mut e.mark)
    }

    /// Room for one more entry: places are 32 bits wide.
    pub(super) fn has_room(&self) -> bool {
        u32::try_from(self.buffer.len()).is_ok_and(|n| n <= u32::MAX / 2) && u32::try_from(self.entries.len()).is_ok()
    }

    /// Adds an offset without a record; without an offset, a place for a mark.
    pub(super) fn push_advance(&mut self, slot: u32, offset: Option<u32>) {
        self.entries.push(Entry {
            kind: EntryKind::Advance,
            mark: Mark::None,
            topic: 0,
            slot,
            offset,
            partition: None,
            timestamp: None,
            key: Payload::Null,
            value: Payload::Null,
            headers: HeaderRange::default(),
        });
    }

    /// Copies a record in. False if it is too large for the places of a batch (2 GiB): nothing is then kept of it.
    #[must_use]
    pub(super) fn push(&mut self, slot: u32, record: Record<'_>, offset: Option<u32>) -> bool {
        let start = self.buffer.len();
        let topic = self.intern(&record.topic);
        let Record { partition, timestamp, key, value, headers, .. } = record;
        let key = self.put(key);
        let value = self.put(value);
        let header_start = self.headers.len();
        for (name, value) in headers {
            let name_at = self.append(name.as_bytes());
            let value = self.put(value);
            self.headers.push(RawHeader { name: name_at, value });
        }
        if !self.has_room() {
            self.buffer.own().truncate(start);
            self.headers.truncate(header_start);
            return false;
        }
        let headers = HeaderRange { start: index(header_start), len: index(self.headers.len() - header_start) };
        self.entries.push(Entry {
            kind: EntryKind::Record,
            mark: Mark::None,
            topic,
            slot,
            offset,
            partition,
            timestamp,
            key,
            value,
            headers,
        });
        true
    }

    fn intern(&mut self, topic: &str) -> u32 {
        // Nearly always the topic of the record before.
        if let Some(last) = self.entries.last()
            && self.topics.get(last.topic as usize).is_some_and(|name| &**name == topic)
        {
            return last.topic;
        }
        let known = if self.topic_index.is_empty() {
            self.topics.iter().position(|t| &**t == topic).map(index)
        } else {
            self.topic_index.get(topic).copied()
        };
        known.unwrap_or_else(|| {
            let at = index(self.topics.len());
            self.topics.push(topic.into());
            if self.topics.len() > TOPICS_SEARCHED_MAX {
                let known = self.topic_index.len();
                self.topic_index.extend((index(known)..).zip(&self.topics[known..]).map(|(i, t)| (t.clone(), i)));
            }
            at
        })
    }

    fn put(&mut self, field: Field<'_>) -> Payload {
        match field {
            Field::Null => Payload::Null,
            Field::Text(t) => {
                let (start, len) = self.append(t.as_bytes());
                Payload::Text { start, len }
            }
            Field::Bytes(b) => {
                let (start, len) = self.append(&b);
                Payload::Bytes { start, len }
            }
            Field::Owned(v) => {
                self.owned.push(v);
                Payload::Owned(index(self.owned.len() - 1))
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> (u32, u32) {
        let start = self.buffer.len();
        self.buffer.own().extend_from_slice(bytes);
        (index(start), index(bytes.len()))
    }
}

/// `has_room` keeps every length of an accepted record below 2^32; a longer one is rolled back before its place is used.
fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn range(start: u32, len: u32) -> Range<usize> {
    start as usize..start as usize + len as usize
}

const WHOLE_STRINGS: &str = "only whole strings were appended at this place";

fn text_at(buffer: &[u8], start: u32, len: u32) -> &str {
    std::str::from_utf8(&buffer[range(start, len)]).expect(WHOLE_STRINGS)
}

/// The typed offsets of one batch, encoded only when one of them is stored.
pub trait OffsetColumn: Send + Sync {
    /// The stored form of the offset at `index` (see [`Entry::offset`]).
    fn encode(&self, index: u32) -> OffsetMap;
    /// A column of only these offsets, in this order, for a batch of which nothing else matters any more.
    fn keep(&self, indices: &[u32]) -> Arc<dyn OffsetColumn>;
    /// How many there are.
    fn len(&self) -> usize;
    /// True if there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for dyn OffsetColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OffsetColumn({})", self.len())
    }
}

/// A column that several parts of a batch share.
impl OffsetColumn for Arc<dyn OffsetColumn> {
    fn encode(&self, index: u32) -> OffsetMap {
        (**self).encode(index)
    }

    fn keep(&self, indices: &[u32]) -> Self {
        (**self).keep(indices)
    }

    fn len(&self) -> usize {
        (**self).len()
    }
}

impl<O: super::SourceOffset> OffsetColumn for Vec<O> {
    fn encode(&self, index: u32) -> OffsetMap {
        self[index as usize].__encode()
    }

    fn keep(&self, indices: &[u32]) -> Arc<dyn OffsetColumn> {
        Arc::new(indices.iter().map(|i| self[*i as usize].__duplicate()).collect::<Self>())
    }

    fn len(&self) -> usize {
        self.len()
    }
}

#[cfg(test)]
mod tests;
