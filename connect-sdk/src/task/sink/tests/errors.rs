//! Records that a step cannot take: tried again, logged, counted.

use super::*;
use crate::{
    data::{DataError, SchemaAndValue},
    source::PayloadRef,
    task::ports::SkipReason,
};
use bytes::Bytes;

/// Reads text, but has to be asked several times for records with the value `slow`.
struct Slow {
    /// How often each value was read.
    reads: Mutex<Vec<String>>,
    /// How many more times `slow` cannot be read.
    fails: Mutex<u32>,
}

impl Slow {
    fn new(fails: u32) -> Arc<Self> {
        Arc::new(Self { reads: Mutex::default(), fails: Mutex::new(fails) })
    }

    fn n_reads(&self, value: &str) -> usize {
        self.reads.lock().unwrap().iter().filter(|read| *read == value).count()
    }
}

impl DynConverter for Slow {
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        unreachable!("a sink reads")
    }

    fn read(&self, topic: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        let text = bytes.map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
        let mut fails = self.fails.lock().unwrap();
        let busy = text == "slow" && *fails > 0;
        self.reads.lock().unwrap().push(text);
        if busy {
            *fails -= 1;
            return Err(DataError::retriable("registry away"));
        }
        TextConverter.read(topic, bytes)
    }
}

fn slow(properties: &[(&str, &str)], fails: u32) -> (Stage, Arc<Slow>) {
    let (mut stage, converter) = (direct(properties), Slow::new(fails));
    stage.converter = converter.clone();
    for value in ["a", "slow", "b"] {
        stage.group.append(&t(0), RawRecord::value(value));
    }
    stage.append(1, 1);
    stage.group.assign(&[t(0), t(1)]);
    stage.start();
    (stage, converter)
}

#[test]
fn a_step_that_may_work_later_is_tried_again_where_it_failed() {
    let (mut stage, converter) = slow(&[("errors.retry.timeout", "-1")], 2);
    stage.pass(299);
    assert_eq!((converter.n_reads("slow"), stage.log_of(&["put"]).len()), (1, 0));
    stage.pass(1);
    assert_eq!(converter.n_reads("slow"), 2, "after 300 ms");
    stage.pass(599);
    assert_eq!(converter.n_reads("slow"), 2);
    stage.pass(1);
    assert_eq!(stage.log_of(&["put"]), ["put t-0@0 t-0@1 t-0@2 t-1@0"], "in order, and all at once");
    assert_eq!(["a", "slow", "b"].map(|v| converter.n_reads(v)), [1, 3, 1], "others are converted once");
    stage.pass(1000);
    assert_eq!(stage.committed(), (Some(3), Some(1)));
    assert_eq!((stage.reports.errors().retries, stage.reports.skipped(SkipReason::Failed)), (2, 0));
    stage.append(0, 1);
    stage.settle();
    assert_eq!(stage.log_of(&["put"]).last().unwrap(), "put t-0@3", "delivery goes on");
}

#[test]
fn without_a_timeout_nothing_is_tried_again() {
    let (mut stage, converter) = slow(&[], 1);
    assert_eq!(stage.end().unwrap(), "value of record `t-0@1` cannot be read: registry away");
    assert_eq!((converter.n_reads("slow"), stage.reports.errors().retries), (1, 0));
}

#[test]
fn retries_that_run_out_fail_the_task_or_skip_the_record() {
    let timeout = ("errors.retry.timeout", "1000");
    let (mut stage, converter) = slow(&[timeout], u32::MAX);
    stage.pass(999);
    assert!(stage.is_running());
    stage.pass(1);
    let end = stage.end().unwrap();
    assert!(end.ends_with("registry away (still after 1000 ms, the limit of `errors.retry.timeout`)"), "{end}");
    assert_eq!(converter.n_reads("slow"), 4, "at 0, 300, 900 and 1000 ms");
    assert_eq!(stage.committed().0, Some(1), "what was before it is put");

    let (mut stage, _) = slow(&[timeout, ("errors.tolerance", "all")], u32::MAX);
    stage.pass(2000);
    assert_eq!(stage.log_of(&["put"])[0], "put t-0@0 t-0@2 t-1@0");
    assert_eq!((stage.committed().0, stage.reports.skipped(SkipReason::Failed)), (Some(3), 1));
}

#[test]
fn a_stop_does_not_wait_for_retries() {
    let (mut stage, _) = slow(&[("errors.retry.timeout", "-1")], u32::MAX);
    stage.pass(10_000);
    stage.stop();
    assert_eq!(stage.end(), None);
    assert_eq!(stage.committed(), (None, None));
}

#[test]
fn a_pause_holds_retries_and_a_resume_goes_on() {
    let (mut stage, converter) = slow(&[("errors.retry.timeout", "-1")], 1);
    stage.settle();
    stage.wishes.wish(TargetState::Paused);
    stage.pass(5000);
    assert_eq!(converter.n_reads("slow"), 1);
    stage.wishes.wish(TargetState::Started);
    stage.pass(1000);
    assert_eq!(stage.log_of(&["put"]).first().unwrap(), "put", "the empty put of the flush interval");
    assert_eq!(stage.committed(), (Some(3), Some(1)));
    assert_eq!(converter.n_reads("a"), 1);
}

#[test]
fn a_partition_can_be_taken_away_during_retries() {
    for lost in [false, true] {
        let (mut stage, converter) = slow(&[("errors.retry.timeout", "-1")], 2);
        stage.settle();
        stage.log();
        if lost {
            stage.group.lose(&[t(1)])
        } else {
            stage.group.revoke(&[t(1)])
        }
        let answer = stage.log();
        assert!(lost || answer.last().unwrap() == "released", "at once: {answer:?}");
        stage.pass(2000);
        assert_eq!(
            stage.log_of(&["put"]).iter().filter(|p| *p != "put").collect::<Vec<_>>(),
            ["put t-0@0 t-0@1 t-0@2"]
        );
        assert_eq!((stage.committed(), converter.n_reads("a")), ((Some(3), None), 1));
        stage.append(0, 1);
        stage.pass(1000);
        assert_eq!(stage.committed().0, Some(4));
    }
}

#[test]
fn the_partition_of_the_record_can_be_taken_away_during_retries() {
    let (mut stage, _) = slow(&[("errors.retry.timeout", "-1")], u32::MAX);
    stage.settle();
    stage.group.revoke(&[t(0)]);
    stage.pass(2000);
    assert_eq!(stage.committed(), (None, Some(1)));
    stage.append(1, 1);
    stage.pass(1000);
    assert_eq!(stage.committed().1, Some(2));
}

#[test]
fn what_is_left_is_resumed_if_all_of_a_waiting_batch_was_taken_away() {
    let mut stage = direct(&[("errors.retry.timeout", "-1")]);
    stage.converter = Slow::new(u32::MAX);
    stage.group.append(&t(0), RawRecord::value("slow"));
    stage.group.assign(&[t(0), t(1)]);
    stage.start();
    assert_eq!(stage.log_of(&["pause"]), ["pause t-0 t-1"]);
    stage.group.revoke(&[t(0)]);
    stage.append(1, 1);
    stage.pass(300);
    assert_eq!(stage.log_of(&["resume", "put"]), ["resume t-1", "put t-1@0"], "before the empty put of a second");
}

#[test]
fn another_life_of_the_sink_has_its_own_time_for_retries() {
    let mut stage = direct(&[("errors.retry.timeout", "1000"), ("offset.flush.interval.ms", "500")]);
    let converter = Slow::new(u32::MAX);
    stage.converter = converter.clone();
    stage.append(1, 1);
    stage.group.assign(&[t(0), t(1)]);
    stage.start();
    stage.settle();
    // The first of its batch in both lives.
    stage.group.append(&t(0), RawRecord::value("slow"));
    stage.fail("pre_commit", TaskError::retriable_after("busy", Duration::from_millis(50)));
    stage.pass(549);
    assert_eq!((stage.log_of(&["drop"]).len(), converter.n_reads("slow")), (1, 2), "at 0 and 300 ms");
    stage.pass(1000);
    assert!(stage.is_running());
    stage.pass(1);
    assert!(stage.end().unwrap().contains("still after 1000 ms"));
    assert_eq!(converter.n_reads("slow"), 6, "and at 550, 850, 1450 and 1550 ms");
}

#[test]
fn a_buffered_sink_is_not_taken_to_hold_what_waits_for_retries() {
    let (mut stage, converter) = (buffered(&[("errors.retry.timeout", "-1")]), Slow::new(u32::MAX));
    stage.converter = converter;
    stage.script().answer = Answer::Everything;
    stage.script().keeps = 0;
    stage.append(0, 1);
    stage.group.assign(&[t(0), t(1)]);
    stage.start();
    stage.settle();
    stage.append(0, 1);
    stage.group.append(&t(0), RawRecord::value("slow"));
    stage.pass(5000);
    assert!(stage.is_running());
    assert_eq!(stage.committed().0, Some(1));
}

#[test]
fn each_failed_record_has_an_error_line_if_that_is_asked_for() {
    let bad = |log: &[(&str, &str)]| {
        let mut stage = direct(&[&[("errors.tolerance", "all")], log].concat());
        stage.group.append(&t(0), RawRecord::value("a"));
        stage.group.append(&t(0), RawRecord { timestamp: Some(5), ..RawRecord::value(&b"\xFF"[..]) });
        stage.group.assign(&[t(0)]);
        stage.start();
        stage.settle();
        stage.reports.error_lines()
    };
    assert_eq!(bad(&[]), "");
    let class = std::any::type_name::<TextConverter>();
    let exception = "org.apache.kafka.connect.errors.DataException: not UTF-8";
    let line =
        format!("Error encountered in task s-0. Executing stage 'VALUE_CONVERTER' with class '{class}'. {exception}");
    assert_eq!(bad(&[("errors.log.enable", "true")]), line);
    let record = "where consumed record is {topic='t', partition=0, offset=1, timestamp=5}";
    assert_eq!(
        bad(&[("errors.log.enable", "true"), ("errors.log.include.messages", "true")]),
        line.replace(&format!("'{class}'"), &format!("'{class}', {record}"))
    );
}

#[test]
fn a_bad_topic_does_not_fill_the_log_and_everything_is_counted() {
    let mut stage = direct(&[("errors.tolerance", "all"), ("errors.log.enable", "true")]);
    stage.group.batch_records_max(50);
    for _ in 0..1000 {
        stage.group.append(&t(0), RawRecord::value(&b"\xFF"[..]));
    }
    stage.group.assign(&[t(0)]);
    stage.start();
    stage.pass(100);
    assert_eq!(stage.reports.error_lines().lines().count(), 100);
    stage.pass(11_000);
    let lines = stage.reports.error_lines();
    assert!(
        lines.ends_with("Error encountered in task s-0: 900 more records failed than are logged one by one"),
        "{lines}"
    );
    let errors = stage.reports.errors();
    assert_eq!((errors.failures, errors.logged, stage.reports.skipped(SkipReason::Failed)), (1000, 100, 1000));
    assert_eq!(stage.reports.warnings().lines().count(), 1, "told once, and again after a minute");
}

#[test]
fn a_rejection_that_the_sink_keeps_to_itself_fails_the_task_all_the_same() {
    let mut stage = direct(&[]);
    stage.group.batch_records_max(1);
    stage.on_put(|records, cx| {
        for record in records.iter().filter(|r| r.offset() == 1) {
            let _kept = cx.reject(record, "too long");
        }
        Ok(())
    });
    stage.append(0, 3);
    stage.group.assign(&[t(0)]);
    stage.start();
    assert_eq!(stage.end().as_deref(), Some("record at `t-0@1` was rejected: too long"));
    assert_eq!(stage.committed().0, Some(1));
}
