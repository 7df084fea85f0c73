//! Records that fail: tried again, logged, and put into the dead letter queue, with and without transactions.

use super::*;
use crate::{
    data::{DataError, SchemaAndValue},
    erased::DynConverter,
    source::PayloadRef,
    testkit::{Produced, TextConverter},
    transform::ConnectRecord,
};
use bytes::Bytes;
use std::sync::Mutex;

/// Writes text, but has to be asked several times for `0:1`; never writes `bad`.
struct Slow {
    writes: Mutex<Vec<String>>,
    fails: Mutex<u32>,
}

impl DynConverter for Slow {
    fn write(&self, topic: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        let PayloadRef::Text(text) = value else { return TextConverter.write(topic, value, out) };
        self.writes.lock().unwrap().push(text.to_owned());
        let mut fails = self.fails.lock().unwrap();
        if text == "0:1" && *fails > 0 {
            *fails -= 1;
            out.extend_from_slice(b"half");
            return Err(DataError::retriable("registry away"));
        }
        if text == "bad" {
            return Err(DataError::new("not a good text"));
        }
        TextConverter.write(topic, value, out)
    }

    fn read(&self, _: &str, _: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }

    fn class_name(&self) -> &'static str {
        "org.example.Slow"
    }
}

fn slow(fails: u32, acts: impl IntoIterator<Item = Act>, properties: &[(&str, &str)]) -> (Rig, Arc<Slow>) {
    let mut rig = Rig::new(1, acts);
    let value = Arc::new(Slow { writes: Mutex::default(), fails: Mutex::new(fails) });
    let text = Arc::new(TextConverter);
    rig.converters = Some(Converters { key: text.clone(), value: value.clone(), header: text });
    for (key, text) in properties {
        rig.set(key, text);
    }
    (rig, value)
}

const ALL: (&str, &str) = ("errors.tolerance", "all");
const FOR_EVER: (&str, &str) = ("errors.retry.timeout", "-1");

#[test]
fn a_step_that_may_work_later_is_tried_again_where_it_failed() {
    let (mut rig, converter) = slow(2, [Act::Emit(3)], &[FOR_EVER]);
    rig.start();
    rig.run_for(299);
    assert_eq!((rig.kafka.n_records(), converter.writes.lock().unwrap().len()), (0, 2));
    rig.run_for(601);
    assert_eq!(rig.kafka.texts(), numbers(0, 0..3));
    assert_eq!(*converter.writes.lock().unwrap(), ["0:0", "0:1", "0:1", "0:1", "0:2"]);
    rig.stop();
    assert_eq!((rig.stored(0), rig.reports.errors().retries), (Some(3), 2));
}

#[test]
fn retries_that_run_out_fail_the_task_or_skip_the_record() {
    let timeout = ("errors.retry.timeout", "1000");
    let (mut rig, _) = slow(u32::MAX, [Act::Emit(3)], &[timeout]);
    rig.start();
    let failure = rig.failure();
    assert!(failure.ends_with("registry away (still after 1000 ms, the limit of `errors.retry.timeout`)"), "{failure}");
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..1), Some(1)));
    let (mut rig, _) = slow(u32::MAX, [Act::Emit(3)], &[timeout, ALL]);
    rig.start();
    rig.run_for(3000);
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (vec!["0:0".to_owned(), "0:2".to_owned()], Some(3)));
    let (mut rig, converter) = slow(u32::MAX, [Act::Emit(3)], &[]);
    rig.start();
    assert!(rig.failure().ends_with("registry away"));
    assert_eq!(converter.writes.lock().unwrap().len(), 2, "0 ms is one try");
}

#[test]
fn a_stop_or_a_pause_ends_retries_and_the_records_come_again() {
    let (mut rig, converter) = slow(u32::MAX, [Act::Emit(3)], &[FOR_EVER]);
    rig.start();
    rig.run_for(5_000);
    rig.wishes.wish(TargetState::Paused);
    rig.run_for(10);
    assert_eq!(rig.shared().n_closed, 1, "at once");
    *converter.fails.lock().unwrap() = 0;
    rig.shared().acts.push_back(Act::Emit(3));
    rig.wishes.wish(TargetState::Started);
    rig.run_for(1000);
    assert_eq!(rig.kafka.texts(), numbers(0, 0..3));
    let (mut rig, _) = slow(u32::MAX, [Act::Emit(3)], &[FOR_EVER]);
    rig.start();
    rig.run_for(5_000);
    rig.stop();
    assert_eq!((rig.kafka.n_records(), rig.stored(0)), (0, None));
}

#[test]
fn lines_of_failed_records_have_the_record_if_that_is_asked_for() {
    let lines = |properties: &[(&str, &str)]| {
        let (mut rig, _) = slow(0, [Act::Emit(1), Act::Say("t", "bad".to_owned())], properties);
        rig.start();
        rig.run_for(100);
        rig.reports.error_lines()
    };
    let (log, messages) = (("errors.log.enable", "true"), ("errors.log.include.messages", "true"));
    assert_eq!(lines(&[ALL]), "");
    let stage = "Error encountered in task c-0. Executing stage 'VALUE_CONVERTER' with class 'org.example.Slow'";
    let trace = "org.apache.kafka.connect.errors.DataException: not a good text";
    assert_eq!(lines(&[ALL, log]), format!("{stage}. {trace}"));
    let record = "SourceRecord{sourcePartition={n=0}, sourceOffset={n=2}} ConnectRecord{topic='t', kafkaPartition=null, \
                  key=null, value=bad, timestamp=null, headers=[]}";
    assert_eq!(lines(&[ALL, log, messages]), format!("{stage}, where source record is = {record}. {trace}"));
}

fn with_letters(acts: impl IntoIterator<Item = Act>, properties: &[(&str, &str)]) -> Rig {
    let (mut rig, _) = slow(0, acts, properties);
    rig.has_letters = true;
    rig
}

fn header(record: &Produced, name: &str) -> Option<String> {
    let name = format!("__connect.errors.{name}");
    let value = &record.headers.iter().find(|(k, _)| *k == name)?.1;
    value.as_ref().map(|v| String::from_utf8(v.clone()).unwrap())
}

fn bad() -> [Act; 3] {
    [Act::Emit(2), Act::Say("t", "bad".to_owned()), Act::Emit(2)]
}

#[test]
fn a_dead_letter_goes_among_the_records_and_says_where_it_came_from() {
    let mut rig = with_letters(bad(), &[ALL]);
    rig.start();
    rig.run_for(1500);
    let records = rig.kafka.records();
    let texts: Vec<_> = records.iter().map(|r| format!("{} {}", r.topic, r.text())).collect();
    assert_eq!(texts, ["t 0:0", "t 0:1", "dlq bad", "t 0:3", "t 0:4"]);
    let letter = &records[2];
    for (name, value) in [
        ("topic", "t"),
        ("source.partition", r#"{"n":0}"#),
        ("source.offset", r#"{"n":3}"#),
        ("connector.name", "c"),
        ("task.id", "0"),
        ("stage", "VALUE_CONVERTER"),
        ("class.name", "org.example.Slow"),
        ("exception.class.name", "org.apache.kafka.connect.errors.DataException"),
        ("exception.message", "not a good text"),
    ] {
        assert_eq!(header(letter, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(rig.kafka.ensured(), ["dlq", "t"], "once, and before the first record");
    assert_eq!((rig.stored(0), rig.reports.records()), (Some(5), (5, 4)), "a dead letter is not passed on");
    assert_eq!((rig.reports.skipped(SkipReason::Failed), rig.reports.errors().dead_letters), (1, 1));
}

#[test]
fn the_offset_waits_for_the_dead_letter() {
    let mut rig = with_letters(bad(), &[ALL]);
    rig.kafka.plan(|plan| plan.stuck_topic = Some("dlq".to_owned()));
    rig.start();
    rig.run_for(30_000);
    assert_eq!(rig.stored(0), Some(2));
    rig.kafka.plan(|plan| plan.stuck_topic = None);
    rig.run_for(1500);
    assert_eq!(rig.stored(0), Some(5));
}

#[test]
fn a_refused_dead_letter_fails_the_task_and_the_record_comes_again() {
    let mut rig = with_letters(bad(), &[ALL]);
    rig.kafka.plan(|plan| plan.refuse = Some(Arc::new(|r| (r.topic == "dlq").then(|| "not authorized".to_owned()))));
    rig.start();
    let failure = rig.failure();
    assert!(failure.contains("dead letter queue") && failure.contains("not authorized"), "{failure}");
    assert_eq!((rig.stored(0), rig.reports.errors().dead_letter_failures), (Some(2), 1));
}

#[test]
fn without_tolerance_the_task_fails_and_nothing_is_put_aside() {
    let mut rig = with_letters(bad(), &[]);
    rig.start();
    assert!(rig.failure().contains("not a good text"));
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..2), Some(2)), "the record is read again");
}

#[test]
fn a_dead_letter_is_in_the_transaction_of_its_neighbours() {
    for abort in [false, true] {
        let mut rig = with_letters(bad(), &[ALL, ("transaction.boundary", "interval")]);
        rig.set("transaction.boundary.interval.ms", "500");
        rig.exactly_once = Some("id");
        if abort {
            rig.kafka.plan(|plan| plan.abortable_commits = 1);
        }
        rig.start();
        rig.run_for(450);
        assert_eq!(rig.kafka.n_records(), 0);
        rig.run_for(200);
        if abort {
            assert_eq!((rig.kafka.n_records(), rig.stored(0)), (0, None), "all or nothing");
            continue;
        }
        assert_eq!(rig.kafka.texts(), ["0:0", "0:1", "bad", "0:3", "0:4"]);
        assert_eq!((rig.stored(0), rig.kafka.n_transactions()), (Some(5), 1));
        assert_eq!(rig.reports.records(), (5, 4));
    }
}

/// Cannot take records with this value.
struct Refuses(&'static str);

impl DynTransformation for Refuses {
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        if record.value.value.as_ref().and_then(|v| v.as_str()) == Some(self.0) {
            return Err(DataError::new("no such field").in_plugin("org.example.Refuses"));
        }
        Ok(Some(record))
    }
}

#[test]
fn a_dead_letter_of_a_transformation_is_the_record_as_it_was_emitted() {
    let mut rig = with_letters([Act::Emit(3)], &[ALL]);
    rig.chain = Some(Box::new(Refuses("0:1")));
    rig.start();
    rig.run_for(1500);
    let letter = &rig.kafka.records()[1];
    assert_eq!((&*letter.topic, letter.text(), letter.key.as_deref()), ("dlq", "0:1".to_owned(), Some(&b"k"[..])));
    assert_eq!(letter.headers[0], ("h".to_owned(), Some(b"x".to_vec())));
    assert_eq!(header(letter, "stage").as_deref(), Some("TRANSFORMATION"));
    assert_eq!(header(letter, "class.name").as_deref(), Some("org.example.Refuses"));
    assert_eq!(rig.kafka.texts(), numbers(0, 0..3));
}

#[test]
fn a_record_too_large_for_its_topic_goes_to_the_queue_cut_to_what_that_takes() {
    let large = || Act::Say("t", "x".repeat(5_000));
    let mut rig = with_letters([Act::Emit(1), large(), Act::Emit(1)], &[ALL]);
    rig.kafka.plan(|plan| plan.record_bytes_max = 2_000);
    rig.start();
    rig.run_for(1500);
    let records = rig.kafka.records();
    assert_eq!(records.iter().map(|r| &*r.topic).collect::<Vec<_>>(), ["t", "dlq", "t"]);
    let letter = &records[1];
    assert_eq!(
        header(letter, "exception.class.name").unwrap(),
        "org.apache.kafka.common.errors.RecordTooLargeException"
    );
    assert_eq!(header(letter, "source.offset").unwrap(), r#"{"n":2}"#);
    assert_eq!(header(letter, "value.bytes").unwrap(), "5000");
    let headers = letter.headers.iter().map(|(k, v)| k.len() + v.as_ref().map_or(0, Vec::len)).sum::<usize>();
    assert_eq!(headers + letter.text().len(), 2_000);
    assert_eq!((rig.stored(0), rig.reports.skipped(SkipReason::Refused)), (Some(3), 1));
    assert_eq!(rig.reports.records(), (3, 2));
}

#[test]
fn a_topic_of_dead_letters_that_cannot_be_had_fails_the_task_before_its_first_record() {
    let mut rig = with_letters([Act::Emit(1)], &[ALL]);
    rig.kafka.plan(|plan| plan.forbidden_topic = Some("dlq".to_owned()));
    rig.start();
    assert!(rig.failure().contains("topic `dlq` cannot be used"));
    assert_eq!((rig.kafka.n_records(), rig.shared().opened_at.len()), (0, 0));
}
