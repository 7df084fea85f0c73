//! What goes wrong in the source, in Kafka, in the store and in the hook, each with both tolerances where they matter.

use super::*;

#[test]
fn a_failed_store_is_tried_again_at_the_next_flush() {
    let mut rig = Rig::new(1, [Act::Emit(3)]);
    rig.offsets.fail_next(3);
    rig.start();
    rig.run_for(3500);
    assert_eq!((rig.stored(0), rig.reports.commits()), (None, (0, 3)));
    rig.run_for(1000);
    assert_eq!((rig.stored(0), rig.reports.commits()), (Some(3), (1, 3)));
    let warnings = rig.reports.warnings();
    assert_eq!(warnings.lines().count(), 2, "the 1st and the 2nd, not the 3rd: {warnings}");
    assert!(rig.shared().told == [[(0, 3)]], "the hook hears of it once, and only then");
}

#[test]
fn a_stop_tries_a_failing_store_again() {
    let mut rig = Rig::new(1, [Act::Emit(3)]);
    rig.start();
    rig.run_for(50);
    rig.offsets.fail_next(4);
    rig.stop();
    assert_eq!(rig.stored(0), Some(3));
}

#[test]
fn a_hanging_store_is_given_up_and_does_not_hold_back_the_poll() {
    let mut rig = Rig::new(1, []);
    rig.shared().then = Some(Act::Emit(1));
    rig.shared().total = 1_000;
    rig.offsets.hang(true);
    rig.start();
    rig.run_for(7_000);
    assert_eq!(rig.kafka.texts().len(), 1_000);
    assert_eq!(rig.reports.commits(), (0, 1));
    assert!(rig.reports.warnings().contains("`offset.flush.timeout.ms`"), "{}", rig.reports.warnings());
    rig.offsets.hang(false);
    rig.run_for(7_000);
    assert_eq!(rig.stored(0), Some(1_000));
}

#[test]
fn a_slow_store_never_writes_over_a_newer_offset() {
    let mut rig = Rig::new(1, []);
    rig.shared().then = Some(Act::Emit(1));
    rig.shared().total = 100_000;
    rig.offsets.delay(Duration::from_millis(2500));
    rig.set("inflight.max.records", "1");
    rig.start();
    let mut last = None;
    for _ in 0..20 {
        rig.run_for(1000);
        assert!(rig.stored(0) >= last);
        last = rig.stored(0);
    }
    assert!(last.is_some());
}

#[test]
fn a_retriable_poll_opens_the_source_again_behind_what_was_accepted() {
    let mut rig = Rig::new(1, [Act::Emit(3), Act::EmitAndFail(None), Act::EmitAndFail(None), Act::Emit(2)]);
    rig.start();
    rig.run_for(100);
    assert_eq!(rig.shared().n_polls, 2);
    rig.run_for(250);
    assert_eq!(rig.shared().n_polls, 3, "after 300 ms");
    rig.run_for(500);
    assert_eq!(rig.shared().n_polls, 3, "then after 600 ms");
    rig.run_for(100);
    rig.stop();
    assert_eq!(rig.kafka.texts(), numbers(0, 0..5));
    assert_eq!(rig.shared().opened_at, [[0], [3], [3]]);
    assert!(rig.reports.warnings().contains("in 300 ms after a retriable error (1 in a row): connection reset"));
}

#[test]
fn the_error_may_say_how_long_to_wait() {
    let mut rig = Rig::new(1, [Act::EmitAndFail(Some(Duration::from_secs(60))), Act::Emit(1)]);
    rig.start();
    rig.run_for(59_000);
    assert!(rig.kafka.texts().is_empty());
    rig.run_for(2_000);
    assert_eq!(rig.kafka.texts().len(), 1);
}

#[test]
fn retries_go_on_without_limit_unless_there_is_one() {
    let mut rig = Rig::new(1, []);
    rig.shared().then = Some(Act::EmitAndFail(None));
    rig.start();
    rig.run_for(3_600_000);
    assert!(!rig.has_ended());
    assert!(rig.shared().n_polls < 100, "the delay grows to a minute");
    rig.stop();

    rig.set("errors.retry.timeout", "10000");
    rig.start();
    let before = rig.clock.now();
    let failure = rig.failure();
    assert_eq!(failure, "still failing after 10000 ms (`errors.retry.timeout`): connection reset");
    assert!((rig.clock.now() - before).as_secs() >= 10);
}

#[test]
fn a_stop_ends_the_wait_before_a_retry() {
    let mut rig = Rig::new(1, [Act::EmitAndFail(Some(Duration::from_secs(3600)))]);
    rig.start();
    rig.run_for(100);
    let before = rig.clock.now();
    rig.stop();
    assert!(rig.clock.now() - before < Duration::from_secs(1));
}

#[test]
fn a_failing_open_is_tried_again_or_fails_the_task() {
    let mut rig = Rig::new(1, [Act::Emit(1)]);
    rig.shared().open_errors.push_back(TaskError::retriable("connection refused"));
    rig.start();
    rig.run_for(400);
    assert_eq!(rig.kafka.texts().len(), 1);
    rig.stop();
    rig.shared().open_errors.push_back(TaskError::fatal("no such file"));
    rig.start();
    assert_eq!(rig.failure(), "no such file");
}

#[test]
fn a_fatal_poll_fails_the_task_and_keeps_what_was_accepted() {
    let mut rig = Rig::new(1, [Act::Emit(3), Act::Fatal]);
    rig.start();
    assert_eq!(rig.failure(), "no such table");
    assert_eq!(rig.stored(0), Some(3));
    let shared = rig.shared();
    assert_eq!((shared.n_dropped, shared.n_closed), (1, 0));
}

#[test]
fn a_panic_fails_the_task_and_nothing_else() {
    let mut rig = Rig::new(1, [Act::Emit(3), Act::Panic]);
    rig.shared().panic_on_drop = true;
    rig.start();
    assert_eq!(rig.failure(), "panicked in `poll`: index out of bounds");
    assert_eq!(rig.stored(0), Some(3));
    assert!(rig.reports.warnings().contains("while dropping"));

    let mut rig = Rig::new(1, [Act::Say("t", "fine".to_owned()), Act::Say("t", "panic".to_owned())]);
    rig.pass = false;
    rig.start();
    assert_eq!(rig.failure(), "panicked in `a converter or transformation`: no such schema");
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (vec!["fine".to_owned()], Some(1)));
}

#[test]
fn a_refused_record_fails_the_task_behind_the_accepted_ones() {
    let mut rig = Rig::new(1, []);
    rig.shared().then = Some(Act::Emit(10));
    rig.kafka.plan(|plan| plan.refuse = Some(Arc::new(|r| (r.text() == "0:25").then(|| "no leader".to_owned()))));
    rig.start();
    assert_eq!(rig.failure(), "topic `t`: no leader");
    assert_eq!(rig.stored(0), Some(25));
}

#[test]
fn a_refused_record_is_skipped_and_counted_if_errors_are_tolerated() {
    let mut rig = Rig::new(1, [Act::Emit(10), Act::Emit(10)]);
    rig.set("errors.tolerance", "all");
    rig.set("errors.log.enable", "true");
    rig.kafka.plan(|plan| plan.refuse = Some(Arc::new(|r| r.text().ends_with('7').then(|| "no leader".to_owned()))));
    rig.start();
    rig.run_for(1500);
    assert_eq!(rig.stored(0), Some(20));
    assert_eq!((rig.reports.skipped(SkipReason::Refused), rig.reports.records()), (2, (20, 18)));
    let warnings = rig.reports.warnings();
    assert!(warnings.contains("1 records were skipped (refused 1); the first: topic `t`: no leader"), "{warnings}");
    let lines = rig.reports.error_lines();
    assert_eq!(lines.matches("Executing stage 'KAFKA_PRODUCE'").count(), 2, "{lines}");
}

#[test]
fn a_record_above_the_limit_is_refused_before_it_is_sent() {
    let large = Act::Say("t", "x".repeat(2_000));
    let acts = || [Act::Emit(2), large.clone(), Act::Emit(2)];
    let mut rig = Rig::new(1, acts());
    rig.kafka.plan(|plan| plan.record_bytes_max = 1_000);
    rig.start();
    let failure = rig.failure();
    for part in ["2000 bytes", "topic `t`", "1000 bytes", "`max.message.bytes`", "`producer.override.max.request.size`"]
    {
        assert!(failure.contains(part), "{failure}");
    }
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..2), Some(2)));

    let mut rig = Rig::new(1, acts());
    rig.set("errors.tolerance", "all");
    rig.kafka.plan(|plan| plan.record_bytes_max = 1_000);
    rig.start();
    rig.run_for(1500);
    assert_eq!(rig.kafka.texts(), [numbers(0, 0..2), numbers(0, 3..5)].concat());
    assert_eq!((rig.stored(0), rig.reports.skipped(SkipReason::Refused)), (Some(5), 1));
}

#[test]
fn neighbours_of_a_large_record_in_the_same_batch_are_sent() {
    for (tolerance, sent, stored) in [("none", 1, 1), ("all", 3, 4)] {
        let mut rig = Rig::new(1, []);
        rig.n_slots = 4;
        rig.shared().acts.push_back(Act::Emit(1));
        rig.set("errors.tolerance", tolerance);
        // The second record of the batch is the only one with a key of its size; a limit of its own refuses it.
        rig.chain = Some(Box::new(Pad("1:0")));
        rig.kafka.plan(|plan| plan.record_bytes_max = 100);
        rig.start();
        rig.run_for(3_000);
        assert_eq!(rig.has_ended(), tolerance == "none");
        assert_eq!(rig.kafka.texts().len(), sent, "{tolerance}");
        let n_stored = (0..4).filter(|slot| rig.stored(*slot) == Some(1)).count();
        assert_eq!(n_stored, stored, "{tolerance}");
    }
}

/// Makes the record with this value too large.
struct Pad(&'static str);

impl DynTransformation for Pad {
    fn apply(
        &mut self,
        mut record: crate::transform::ConnectRecord,
    ) -> Result<Option<crate::transform::ConnectRecord>, crate::data::DataError> {
        if record.value.value.as_ref().and_then(|v| v.as_str()) == Some(self.0) {
            record.value.value = Some(crate::data::Value::from("x".repeat(500)));
        }
        Ok(Some(record))
    }
}

#[test]
fn a_record_that_cannot_be_converted_ends_the_task_or_is_skipped() {
    let bad = || [Act::Emit(2), Act::Say("t", "bad".to_owned()), Act::Emit(2)];
    let mut rig = Rig::new(1, bad());
    rig.pass = false;
    rig.start();
    assert_eq!(rig.failure(), "the value converter failed on a record for topic `t`: not a good text");
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..2), Some(2)));

    let mut rig = Rig::new(1, bad());
    rig.pass = false;
    rig.set("errors.tolerance", "all");
    rig.start();
    rig.run_for(1500);
    assert_eq!(rig.kafka.texts(), [numbers(0, 0..2), numbers(0, 3..5)].concat());
    assert_eq!((rig.stored(0), rig.reports.skipped(SkipReason::Failed)), (Some(5), 1));
    assert_eq!(rig.reports.error_lines(), "", "not logged one by one unless `errors.log.enable`");
    assert!(rig.reports.warnings().starts_with("1 records were skipped (failed 1)"), "{}", rig.reports.warnings());
}

#[test]
fn a_negative_timestamp_fails_the_task_whatever_is_tolerated() {
    let mut rig = Rig::new(1, [Act::At(0), Act::At(-1), Act::At(-2)]);
    rig.set("errors.tolerance", "all");
    rig.start();
    let failure = rig.failure();
    assert!(failure.contains("its timestamp is -2"), "{failure}");
    let timestamps: Vec<_> = rig.kafka.records().iter().map(|r| r.timestamp).collect();
    assert_eq!(timestamps, [Some(0), None]);
}

#[test]
fn an_unreachable_broker_is_waited_for_and_a_forbidden_topic_fails_the_task() {
    let mut rig = Rig::new(1, [Act::Emit(2), Act::Say("secret", "s".to_owned())]);
    rig.kafka.plan(|plan| {
        plan.topic_failures = 3;
        plan.forbidden_topic = Some("secret".to_owned());
    });
    rig.start();
    assert_eq!(rig.failure(), "topic `secret` cannot be used: not authorized");
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..2), Some(2)));
    assert_eq!(rig.kafka.ensured(), ["t", "t", "t", "t", "secret"]);
    let warnings = rig.reports.warnings();
    assert_eq!(warnings.lines().count(), 2, "{warnings}");
}

#[test]
fn a_broken_producer_fails_the_task() {
    let mut rig = Rig::new(1, []);
    rig.shared().then = Some(Act::Emit(5));
    rig.kafka.plan(|plan| plan.producer_fails_after = Some(100));
    rig.start();
    assert_eq!(rig.failure(), "the producer was fenced");
}

#[test]
fn an_error_after_a_stop_was_asked_for_is_a_warning() {
    let mut rig = Rig::new(1, [Act::Emit(5)]);
    rig.kafka.plan(|plan| {
        plan.refuse = Some(Arc::new(|r| (r.text() == "0:3").then(|| "no leader".to_owned())));
        plan.hold_acks = true;
    });
    rig.start();
    rig.run_for(50);
    rig.kafka.plan(|plan| plan.hold_acks = false);
    rig.stop();
    assert_eq!(rig.stored(0), Some(3));
    assert!(rig.reports.warnings().contains("while stopping: topic `t`: no leader"));
}

#[test]
fn what_a_failed_hook_has_missed_it_is_told_again() {
    let mut rig = Rig::new(1, [Act::Emit(1)]);
    rig.shared().connect_errors = 1;
    rig.shared().hook_errors = 1;
    rig.start();
    rig.run_for(1500);
    assert!(rig.shared().told.is_empty());
    rig.run_for(3000);
    assert_eq!(rig.shared().told, [[(0, 1)]]);
    assert!(!rig.has_ended(), "a hook never fails its task");
    let warnings = rig.reports.warnings();
    assert!(warnings.contains("cannot log in") && warnings.contains("cannot confirm"), "{warnings}");
}

#[test]
fn equal_offsets_are_warned_about_once() {
    let mut rig = Rig::new(1, [Act::Twice, Act::Twice]);
    rig.start();
    rig.run_for(100);
    assert_eq!(rig.reports.warnings().lines().count(), 1);
    assert!(rig.reports.warnings().contains("same offset"));
}

#[test]
fn records_of_an_earlier_life_count_against_the_limit() {
    let mut rig = Rig::new(1, []);
    rig.shared().then = Some(Act::Emit(4));
    rig.shared().acts.extend([Act::Emit(4), Act::EmitAndFail(None)]);
    rig.set("inflight.max.records", "10");
    rig.kafka.plan(|plan| plan.hold_acks = true);
    rig.start();
    rig.run_for(60_000);
    assert_eq!(rig.kafka.texts().len(), 12, "4 of the first life, and 8 of the second, which repeats them");
    rig.kafka.plan(|plan| plan.hold_acks = false);
    rig.shared().total = 20;
    rig.run_for(10_000);
    assert_eq!(rig.stored(0), Some(20));
}

#[test]
fn a_poll_that_holds_its_thread_is_reported_by_name() {
    let second = Duration::from_secs(1);
    let mut rig = Rig::new(1, [Act::Block(second / 2), Act::Emit(1), Act::Block(second), Act::Block(2 * second)]);
    rig.start();
    rig.run_for(10_000);
    let warnings = rig.reports.warnings();
    assert_eq!(warnings.lines().count(), 2, "{warnings}");
    assert!(warnings.contains("`poll` of `Scripted` held its thread for 1000 ms"), "{warnings}");
}

#[test]
fn a_record_that_a_failing_client_gave_up_is_no_bad_record() {
    let mut rig = Rig::new(1, [Act::Emit(2), Act::Emit(1)]);
    rig.set("errors.tolerance", "all");
    rig.kafka.plan(|plan| {
        plan.refuse = Some(Arc::new(|record| (record.text() == "0:2").then(|| "timed out".to_owned())));
        plan.refusals_pass = true;
    });
    rig.start();
    let failure = rig.failure();
    assert!(failure.contains("timed out"), "{failure}");
    assert_eq!((rig.stored(0), rig.reports.skipped(SkipReason::Refused)), (Some(2), 0), "it is sent again");
}
