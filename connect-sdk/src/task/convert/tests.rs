//! Goal: bytes that pass through are not copied, and what a batch refers to is where it says.
//! Method: batches made by the author's `Batch`, converted, and looked at byte by byte.

use super::*;
use crate::{
    data::Value,
    source::{
        Batch, BatchLimits, Cursors, Epoch, FieldMap, FieldMeta, Record, RestoreError, Source, SourceOffset,
        SourcePartition, make_cursors,
    },
    task::TaskInfo,
};
use std::{collections::BTreeMap, sync::Arc};

struct Upper;

impl DynConverter for Upper {
    fn write(&self, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        let text = match value {
            PayloadRef::Null | PayloadRef::Value(_, None) => return Ok(false),
            PayloadRef::Text(text) => text.to_uppercase(),
            PayloadRef::Bytes(_) => return Err(DataError::new("bytes are not text")),
            PayloadRef::Value(_, Some(value)) => format!("{value:?}"),
        };
        out.extend_from_slice(text.as_bytes());
        Ok(true)
    }

    fn read(&self, _: &str, _: Option<&bytes::Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}

struct Pass;

impl DynConverter for Pass {
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Err(DataError::new("was called"))
    }

    fn read(&self, _: &str, _: Option<&bytes::Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }

    fn pass_through(&self) -> PassThrough {
        PassThrough { text: true, bytes: true }
    }
}

#[derive(Clone, PartialEq)]
struct No(i64);

macro_rules! numbers {
    ($($t:ident)*) => {$(
        impl $t for No {
            const FIELDS: &'static [FieldMeta] = &[];
            fn __encode(&self) -> FieldMap {
                FieldMap::new()
            }
            fn __decode(_: &FieldMap) -> Result<Self, RestoreError> {
                Ok(Self(0))
            }
            numbers!(@$t);
        }
    )*};
    (@SourceOffset) => {
        fn __duplicate(&self) -> Self {
            self.clone()
        }
        fn __same(&self, other: &Self) -> bool {
            self == other
        }
    };
    (@SourcePartition) => {};
}
numbers!(SourceOffset SourcePartition);

struct Src;

struct NoConfig;

impl crate::config::ConnectorConfig for NoConfig {
    fn config_def() -> crate::config::ConfigDef {
        crate::config::ConfigDef::new()
    }
    fn from_properties(_: &BTreeMap<String, String>) -> Result<Self, crate::config::ConfigErrors> {
        Ok(Self)
    }
    fn __derived() -> crate::config::derive_support::Derived {
        crate::config::derive_support::Derived::new()
    }
}

impl Source for Src {
    type Config = NoConfig;
    type Partition = No;
    type Offset = No;
    async fn partitions(_: &NoConfig) -> crate::error::Result<Vec<No>> {
        Ok(Vec::new())
    }
    async fn open(_: &NoConfig, _: Cursors<No, No>) -> crate::error::Result<Self> {
        Ok(Self)
    }
    async fn poll(&mut self, _: &mut Batch<Self>) -> crate::error::Result<()> {
        Ok(())
    }
}

fn batch(records: Vec<Record<'_>>) -> RecordBatch {
    let epoch = Epoch::new();
    let task = TaskInfo { connector: String::new(), index: 0, n_tasks: 1 };
    let mut at = make_cursors(epoch, task, [(No(0), None)]).only().unwrap();
    let mut batch = Batch::<Src>::new(epoch, 1, BatchLimits::default());
    for (i, record) in (0..).zip(records) {
        batch.emit(&mut at, record, No(i));
    }
    batch.take().unwrap().raw
}

fn converter(key: impl DynConverter + 'static, value: impl DynConverter + 'static, tolerate: bool) -> BatchConverter {
    let converters = Converters { key: Arc::new(key), value: Arc::new(value), header: Arc::new(Upper) };
    BatchConverter::new(converters, None, tolerate, None)
}

fn convert(mut converter: BatchConverter, raw: &mut RecordBatch, spare: Vec<u8>) -> Converted {
    let mut conversion = converter.begin(raw, spare);
    assert!(converter.go_on(raw, &Vec::<No>::new(), &mut conversion, |_| None).is_none());
    conversion.finish(raw)
}

#[test]
fn the_buffer_of_the_poll_is_handed_on_as_it_is() {
    let mut raw = batch(vec![
        Record::to("a").key("k1").value("v1").header("h", "x"),
        Record::to("b").value(&b"\xff"[..]),
        Record::to("a").key("k3"),
    ]);
    let address = raw.buffer_address();
    let converted = convert(converter(Pass, Pass, false), &mut raw, Vec::new());
    assert!(converted.failure.is_none());
    let batch = converted.batch;
    assert_eq!(batch.buffers[0].as_ptr(), address);
    assert_eq!(batch.buffers[1], b"X", "only the header was written");
    let of = |slice: Option<Slice>| slice.map(|s| batch.bytes(s));
    let [first, second, third] = &batch.records[..] else { panic!("{:?}", batch.records) };
    assert_eq!((of(first.key), of(first.value)), (Some(&b"k1"[..]), Some(&b"v1"[..])));
    assert_eq!((of(second.key), of(second.value)), (None, Some(&b"\xff"[..])));
    assert_eq!((of(third.key), of(third.value)), (Some(&b"k3"[..]), None));
    assert_eq!(batch.bytes(batch.headers[0].0), b"h");
    assert_eq!((first.headers, second.headers), ((0, 1), (1, 0)));
    assert_eq!((first.topic, second.topic, third.topic), (0, 1, 0));
    assert_eq!(batch.record_bytes(first), 2 + 2 + 1 + 1);
}

#[test]
fn what_is_not_passed_through_is_written_and_the_buffer_stays_for_the_next_poll() {
    let mut raw = batch(vec![Record::to("a").key("k").value("v"), Record::to("a").value(Value::from(7))]);
    let converted = convert(converter(Upper, Upper, false), &mut raw, Vec::with_capacity(100));
    let batch = converted.batch;
    assert_eq!(batch.buffers[0].capacity(), 0);
    assert_eq!(batch.bytes(batch.records[0].key.unwrap()), b"K");
    assert_eq!(batch.bytes(batch.records[1].value.unwrap()), b"Int32(7)");
    assert_eq!(raw.take_buffer(), b"kv");
}

#[test]
fn a_failed_record_leaves_nothing_behind() {
    let records = || {
        vec![
            Record::to("a").value("one"),
            Record::to("a").header("h", "lost").key("lost").value(&b"bytes"[..]),
            Record::to("a").value("two"),
        ]
    };
    let tolerant = convert(converter(Upper, Upper, true), &mut batch(records()), Vec::new());
    assert_eq!((tolerant.failed.len(), tolerant.runs.n_sent(), tolerant.batch.records.len()), (1, 2, 2));
    assert_eq!(tolerant.batch.buffers[1], b"ONETWO");
    assert!(tolerant.batch.headers.is_empty());
    let strict = convert(converter(Upper, Upper, false), &mut batch(records()), Vec::new());
    assert_eq!((strict.runs.n_sent(), strict.batch.records.len()), (1, 1));
    let failure = strict.failure.unwrap().to_string();
    assert_eq!(failure, "the value converter failed on a record for topic `a`: bytes are not text");
}

#[test]
fn many_topics_of_a_batch_are_told_apart() {
    let names: Vec<String> = (0..50).map(|i| format!("topic-{}", i % 25)).collect();
    let raw = batch(names.iter().map(|name| Record::to(&**name)).collect());
    assert_eq!(raw.topics().len(), 25);
    for (entry, name) in raw.entries().iter().zip(&names) {
        assert_eq!(&*raw.topics()[entry.topic as usize], name.as_str());
    }
}
