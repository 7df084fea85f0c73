//! From bytes to records, and what becomes of those that cannot be converted.

use super::*;
use crate::{data::DataError, task::ports::SkipReason, transform::ConnectRecord};

const BAD: &[u8] = &[0xFF];

fn one_partition(properties: &[(&str, &str)], records: &[RawRecord]) -> Stage {
    let mut stage = direct(properties);
    for record in records {
        stage.group.append(&t(0), record.clone());
    }
    stage.group.assign(&[t(0)]);
    stage.start();
    stage
}

fn value(bytes: &[u8]) -> RawRecord {
    RawRecord::value(bytes)
}

#[test]
fn without_tolerance_the_records_before_are_put_and_committed() {
    let mut stage = one_partition(&[], &[value(b"a"), value(b"b"), value(BAD), value(b"c")]);
    assert_eq!(stage.end().as_deref(), Some("value of record `t-0@2` cannot be read: not UTF-8"));
    assert_eq!(stage.log_of(&["put", "commit_now"]), ["put t-0@0 t-0@1", "commit_now t-0=2"]);
}

#[test]
fn the_records_before_are_put_again_if_the_sink_asks_for_it_and_then_the_task_fails() {
    let mut stage = one_partition(&[], &[value(b"a"), value(BAD)]);
    stage.fail("put", TaskError::retriable("busy"));
    stage.settle();
    assert!(stage.is_running());
    stage.pass(300);
    assert_eq!(stage.end().as_deref(), Some("value of record `t-0@1` cannot be read: not UTF-8"));
    assert_eq!(stage.committed().0, Some(1));
}

#[test]
fn with_tolerance_they_are_counted_and_passed_over() {
    let mut stage = one_partition(&[("errors.tolerance", "all")], &[value(BAD), value(b"b"), value(BAD)]);
    stage.pass(1000);
    assert_eq!(stage.log_of(&["put"]), ["put t-0@1", "put"]);
    assert_eq!(stage.committed().0, Some(3));
    assert_eq!(stage.reports.skipped(SkipReason::Failed), 2);
    let warnings = stage.reports.warnings();
    assert!(warnings.contains("2 records were skipped") && warnings.contains("`t-0@0`"), "{warnings}");
}

#[test]
fn a_whole_batch_that_is_skipped_moves_the_offset() {
    let mut stage = one_partition(&[("errors.tolerance", "all")], &[value(BAD), value(BAD)]);
    stage.pass(1000);
    assert_eq!(stage.committed().0, Some(2));
}

#[test]
fn key_comes_before_value_before_headers() {
    let record = RawRecord {
        key: Some(BAD.to_vec()),
        value: Some(BAD.to_vec()),
        headers: vec![(b"h".to_vec(), Some(BAD.to_vec()))],
        ..RawRecord::default()
    };
    let mut stage = one_partition(&[], std::slice::from_ref(&record));
    assert!(stage.end().unwrap().starts_with("key of record"));
    let record = RawRecord { key: None, ..record };
    assert!(one_partition(&[], std::slice::from_ref(&record)).end().unwrap().starts_with("value of record"));
    let record = RawRecord { value: None, ..record };
    assert!(one_partition(&[], &[record]).end().unwrap().starts_with("header `h` of record"));
}

#[test]
fn everything_of_a_record_arrives() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = RawRecord {
        key: Some(b"k".to_vec()),
        value: None,
        timestamp: Some(5),
        headers: vec![(b"a".to_vec(), Some(b"1".to_vec())), (b"\xFF".to_vec(), None), (b"a".to_vec(), Some(vec![]))],
    };
    let mut stage = direct(&[]).start_with(0);
    let sees = Arc::clone(&seen);
    stage.on_put(move |records, _| {
        for r in records {
            let headers: Vec<_> =
                r.headers().iter().map(|h| format!("{}={:?}", h.key(), h.value().and_then(|v| v.as_str()))).collect();
            sees.lock().unwrap().push(format!(
                "{}-{}@{} {} {:?} {:?} {:?} {}",
                r.topic(),
                r.partition(),
                r.offset(),
                r.routed_topic(),
                r.key().and_then(|k| k.as_str()),
                r.value(),
                r.timestamp(),
                headers.join(",")
            ));
        }
        Ok(())
    });
    stage.group.append(&t(0), record);
    stage.group.append(&t(0), RawRecord { timestamp: Some(-1), ..RawRecord::default() });
    stage.settle();
    assert_eq!(
        *seen.lock().unwrap(),
        ["t-0@0 t Some(\"k\") None Some(5) a=Some(\"1\"),\u{FFFD}=None,a=Some(\"\")", "t-0@1 t None None None ",]
    );
}

#[test]
fn a_timestamp_below_minus_one_fails_even_with_tolerance() {
    let record = RawRecord { timestamp: Some(-2), ..value(b"a") };
    let mut stage = one_partition(&[("errors.tolerance", "all")], &[value(b"a"), record]);
    let end = stage.end().unwrap();
    assert!(end.starts_with("record `t-0@1` has the timestamp -2"), "{end}");
    assert_eq!(stage.committed().0, Some(1));
}

/// Drops records with the value `drop`, cannot take `bad`, and sends the others to the topic `elsewhere`.
struct Route;

impl DynTransformation for Route {
    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        assert_eq!((record.partition, record.offset.is_some()), (Some(0), true), "a sink's record has both");
        match record.value.value.as_ref().and_then(|v| v.as_str()) {
            Some("drop") => return Ok(None),
            Some("bad") => return Err(DataError::new("no such field")),
            _ => {}
        }
        record.topic = "elsewhere".into();
        (record.partition, record.offset) = (None, None);
        Ok(Some(record))
    }
}

fn routed(properties: &[(&str, &str)], values: &[&str]) -> Stage {
    let mut stage = direct(properties);
    stage.chain = Some(Box::new(Route));
    for value in values {
        stage.group.append(&t(0), RawRecord::value(*value));
    }
    stage.group.assign(&[t(0)]);
    stage
}

#[test]
fn a_transformed_record_is_committed_under_the_topic_it_was_read_from() {
    let mut stage = routed(&[], &["a", "drop", "b", "drop"]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    stage.on_put(move |records, _| {
        let names = records.iter().map(|r| format!("{} {}@{}", r.routed_topic(), r.topic(), r.offset()));
        sees.lock().unwrap().extend(names);
        Ok(())
    });
    stage.start();
    stage.pass(1000);
    assert_eq!(*seen.lock().unwrap(), ["elsewhere t@0", "elsewhere t@2"]);
    assert_eq!(stage.committed().0, Some(4), "dropped records at the end do not hold the offset back");
    assert_eq!(stage.reports.skipped(SkipReason::Filtered), 2);
}

#[test]
fn a_failing_transformation_is_tolerated_or_fails_the_task() {
    let mut stage = routed(&[("errors.tolerance", "all")], &["a", "bad", "b"]);
    stage.start();
    stage.pass(1000);
    assert_eq!((stage.committed().0, stage.reports.skipped(SkipReason::Failed)), (Some(3), 1));
    let mut stage = routed(&[], &["a", "bad", "b"]);
    stage.start();
    let end = stage.end().unwrap();
    assert!(end.contains("`t-0@1`") && end.contains("no such field"), "{end}");
    assert_eq!(stage.committed().0, Some(1));
}

#[test]
fn rejected_records_are_skipped_with_tolerance_and_fail_the_task_without() {
    let reject = |records: &[SinkRecord], cx: &mut PutCx| {
        records.iter().filter(|r| r.offset() == 1).try_for_each(|r| cx.reject(r, "too long"))
    };
    let mut stage = one_partition(&[("errors.tolerance", "all")], &[]);
    stage.on_put(reject);
    stage.append(0, 3);
    stage.pass(1000);
    assert_eq!(stage.reports.skipped(SkipReason::Rejected), 1);
    let warnings = stage.reports.warnings();
    assert!(warnings.contains("1 records were skipped (rejected 1); the first: `t-0@1`: too long"), "{warnings}");
    assert_eq!(stage.committed().0, Some(3));
    let mut stage = one_partition(&[], &[]);
    stage.on_put(reject);
    stage.group.batch_records_max(1);
    stage.append(0, 3);
    assert_eq!(stage.end().as_deref(), Some("record at `t-0@1` was rejected: too long"));
    assert_eq!(stage.committed().0, Some(1));
}
