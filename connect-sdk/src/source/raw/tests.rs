//! Goal: a batch that is cut gives two batches that hold what was cut, wherever the cut is.

use super::*;
use crate::data::Value;

fn record(i: u32) -> Record<'static> {
    let record = Record::to(format!("t{}", i % 3));
    match i % 5 {
        0 => record.key(format!("key {i}")).value(format!("value {i}")).header("name", format!("header {i}")),
        1 => record.value(SchemaAndValue { schema: None, value: Some(Value::Int64(i64::from(i))) }),
        2 => record.header("a", i64::from(i)).header("b", "text"),
        3 => record.value(&b"bytes"[..]).timestamp(i64::from(i)),
        _ => record,
    }
}

fn batch(of: Range<u32>) -> RecordBatch {
    let mut batch = RecordBatch::default();
    for i in of {
        if i % 7 == 6 {
            batch.push_advance(i % 2, Some(i));
        } else {
            assert!(batch.push(i % 2, record(i), Some(i)));
        }
    }
    batch
}

/// Everything that can be read of a batch.
fn contents(batch: &RecordBatch) -> Vec<String> {
    let line = |e: &Entry| {
        let headers: Vec<_> = batch.headers(e.headers).map(|(n, v)| format!("{n}={:?}", batch.payload(v))).collect();
        let topic = if e.kind == EntryKind::Record { &*batch.topics()[e.topic as usize] } else { "" };
        let (key, value) = (batch.payload(e.key), batch.payload(e.value));
        format!("{topic} {} {:?} {:?} {key:?} {value:?} {headers:?}", e.slot, e.offset, e.timestamp)
    };
    batch.entries().iter().map(line).collect()
}

#[test]
fn a_batch_can_be_cut_anywhere() {
    const N: u32 = 40;
    for n in 0..=N {
        let mut first = batch(0..N);
        let later = first.split_off(n as usize);
        assert_eq!(contents(&first), contents(&batch(0..n)), "before {n}");
        assert_eq!(contents(&later), contents(&batch(n..N)), "behind {n}");
    }
    let mut whole = batch(0..3);
    assert!(whole.split_off(99).is_empty());
    assert_eq!(whole.len(), 3);
}
