//! Pausing, stopping, failing.

use super::*;

#[test]
fn a_paused_task_delivers_nothing_commits_and_stays_in_the_group() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.log();
    stage.wishes.wish(TargetState::Paused);
    assert_eq!(stage.log(), ["pause t-0 t-1", "pre_commit running", "commit t-0=1 t-1=1"]);
    stage.append(0, 2);
    stage.group.revoke(&[t(1)]);
    stage.group.assign(&[t(2)]);
    assert_eq!(
        stage.log(),
        ["pre_commit Revoked t-1", "closed Revoked t-1", "released", "assigned t-2", "start t-2=0", "pause t-2"]
    );
    stage.pass(1000);
    assert_eq!(stage.log(), ["put", "pre_commit running"], "as in Java, a paused sink is still called");
    stage.wishes.wish(TargetState::Started);
    assert_eq!(stage.log(), ["resume t-0 t-2", "put t-0@1 t-0@2"]);
    let states: Vec<_> =
        stage.reports.events().into_iter().filter(|e| matches!(e, TaskEvent::Paused | TaskEvent::Running)).collect();
    assert_eq!(states, [TaskEvent::Running, TaskEvent::Paused, TaskEvent::Running]);
}

#[test]
fn a_task_that_begins_paused_opens_its_sink_when_it_is_resumed() {
    let mut stage = direct(&[]);
    stage.wishes.wish(TargetState::Paused);
    stage.append(0, 1);
    stage.group.assign(&[t(0)]);
    stage.start();
    stage.pass(5000);
    assert_eq!(stage.log(), ["start t-0=0", "pause t-0"]);
    assert_eq!(stage.reports.events(), [TaskEvent::Paused]);
    stage.wishes.wish(TargetState::Started);
    assert_eq!(stage.log(), ["open", "assigned t-0", "seek t-0=0", "resume t-0", "put t-0@0"]);
}

#[test]
fn a_task_that_begins_stopped_ends_without_a_sink() {
    let mut stage = direct(&[]);
    stage.wishes.wish(TargetState::Stopped);
    stage.start();
    assert_eq!(stage.end(), None);
    assert_eq!(stage.log(), ["leave"]);
}

#[test]
fn a_sink_pauses_and_resumes_partitions() {
    let mut stage = direct(&[]).start_with(0);
    stage.settle();
    stage.log();
    stage.on_put(|records, cx| {
        if records.iter().any(|r| r.partition() == 0) {
            cx.pause([t(0), t(9)]);
        }
        if records.is_empty() {
            cx.resume([t(0)]);
        } else {
            cx.wake_after(Duration::from_millis(100));
        }
        Ok(())
    });
    stage.append(0, 1);
    assert_eq!(stage.log(), ["put t-0@0", "pause t-0"]);
    assert!(stage.reports.warnings().contains("pauses `t-9`, which is not assigned"));
    stage.append(0, 1);
    stage.append(1, 1);
    assert_eq!(stage.log(), ["put t-1@0"]);
    stage.pass(100);
    assert_eq!(stage.log(), ["put", "resume t-0", "put t-0@1", "pause t-0"]);
}

#[test]
fn records_that_slip_through_a_pause_are_read_again_on_resuming() {
    // They had left the consumer when it was told; here they wait behind a slow put.
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.log();
    stage.stick("put");
    stage.append(0, 1);
    stage.settle();
    stage.append(0, 1);
    stage.append(1, 1);
    stage.settle();
    stage.wishes.wish(TargetState::Paused);
    stage.unstick();
    assert_eq!(
        stage.log_of(&["put", "pause"]),
        ["put t-0@1", "pause t-0 t-1", "pause t-0 t-1"],
        "told again, for it has not listened"
    );
    stage.wishes.wish(TargetState::Started);
    assert_eq!(stage.log_of(&["put", "seek", "resume"]), ["seek t-0=2 t-1=1", "resume t-0 t-1", "put t-0@2 t-1@1"]);
}

#[test]
fn a_task_whose_place_is_taken_writes_and_commits_nothing_more_even_after_a_slow_put() {
    for (kind, call, then) in [
        (direct as fn(&[(&str, &str)]) -> Stage, "put", ["closed Lost t-0 t-1", "close", "drop", "leave"]),
        (buffered, "pre_commit", ["closed Lost t-0 t-1", "close", "drop", "leave"]),
    ] {
        let mut stage = kind(&[]).start_with(2);
        stage.settle();
        stage.stick(call);
        stage.append(0, 1);
        stage.pass(1000);
        stage.log();
        stage.group.lose(&[t(0), t(1)]);
        stage.group.fail(TaskError::fatal("another consumer has the place"));
        stage.append(1, 5);
        // A commit and an empty put are long due.
        stage.pass(5000);
        assert_eq!(stage.log(), [""; 0], "while `{call}` is under way");
        stage.unstick();
        assert_eq!(stage.log(), then, "after `{call}`");
        assert_eq!(stage.end().as_deref(), Some("another consumer has the place"));
        assert_eq!(stage.committed(), (None, None));
    }
}

#[test]
fn a_stop_that_meets_the_loss_of_everything_asks_for_no_last_commit() {
    let mut stage = buffered(&[]).start_with(2);
    stage.settle();
    stage.log();
    stage.wishes.wish(TargetState::Stopped);
    stage.group.lose(&[t(0), t(1)]);
    assert_eq!(stage.log(), ["closed Lost t-0 t-1", "close", "drop", "leave"]);
    assert_eq!(stage.committed(), (None, None));
}

#[test]
fn a_retriable_put_is_not_tried_again_after_the_loss_of_its_partitions() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.fail("put", TaskError::retriable_after("busy", Duration::from_millis(10)));
    stage.append(0, 1);
    stage.settle();
    stage.log();
    stage.group.lose(&[t(0), t(1)]);
    stage.pass(20);
    assert_eq!(stage.log_of(&["put", "closed", "pre_commit"]), ["closed Lost t-0 t-1", "put"], "an empty one");
}

#[test]
fn a_fatal_put_still_commits_what_was_put_before() {
    for stage in [direct(&[]), buffered(&[])] {
        let mut stage = stage.start_with(2);
        stage.settle();
        stage.log();
        stage.fail("put", TaskError::fatal("no such table"));
        stage.append(0, 1);
        stage.script().keeps = 0;
        assert_eq!(stage.end().as_deref(), Some("no such table"));
        assert_eq!(
            stage.log(),
            [
                "put t-0@2",
                "pre_commit Stopping t-0 t-1",
                "closed Stopping t-0 t-1",
                "commit_now t-0=2 t-1=2",
                "close",
                "drop",
                "leave"
            ]
        );
    }
}

#[test]
fn a_sink_that_panics_is_not_asked_again() {
    for (call, text) in
        [("put", "panicked in `put`"), ("pre_commit", "panicked in `pre_commit`"), ("open", "panicked in `open`")]
    {
        let mut stage = buffered(&[]).start_with(1);
        stage.script().panics = Some(call);
        stage.pass(1000);
        let end = stage.end().unwrap();
        assert!(end.starts_with(text), "{end}");
        assert_eq!(stage.committed(), (None, None));
        assert_eq!(stage.log_of(&["closed", "close", "leave"]), ["leave"]);
    }
}

#[test]
fn a_panic_in_the_last_calls_fails_the_task() {
    for call in ["pre_commit", "closed"] {
        let mut stage = buffered(&[]).start_with(1);
        stage.settle();
        stage.script().panics = Some(call);
        stage.stop();
        assert!(stage.end().unwrap().contains("panicked"));
        assert_eq!(stage.log_of(&["close", "leave"]), ["leave"]);
    }
}

#[test]
fn errors_of_the_last_calls_do_not_fail_a_stop() {
    let mut stage = buffered(&[]).start_with(1);
    stage.settle();
    stage.fail("pre_commit", TaskError::fatal("disk full"));
    stage.fail("closed", TaskError::fatal("gone"));
    stage.stop();
    assert_eq!(stage.end(), None);
    assert!(stage.reports.warnings().contains("disk full") && stage.reports.warnings().contains("gone"));
    assert_eq!(stage.committed(), (None, None));
}

#[test]
fn a_last_commit_that_hangs_ends_with_the_graceful_time_out() {
    for call in ["pre_commit", "closed", "close"] {
        let mut stage = buffered(&[("task.shutdown.graceful.timeout.ms", "700")]).start_with(1);
        stage.settle();
        stage.stick(call);
        stage.stop();
        assert!(stage.is_running());
        stage.pass(700);
        assert_eq!(stage.end(), None);
        assert!(stage.reports.warnings().contains("longer than 700 ms"));
        let committed = if call == "close" { Some(1) } else { None };
        assert_eq!(stage.committed(), (committed, committed));
    }
}

#[test]
fn a_put_that_holds_its_thread_is_reported() {
    let mut stage = direct(&[]).start_with(0);
    let clock = stage.sim.clock();
    stage.on_put(move |records, _| {
        clock.advance(Duration::from_millis(if records.is_empty() { 0 } else { 1200 }));
        Ok(())
    });
    stage.append(0, 1);
    stage.settle();
    let warnings = stage.reports.warnings();
    assert!(warnings.contains("`put` of `Scripted` held its thread for 1200 ms"), "{warnings}");
}

#[test]
fn a_broken_consumer_fails_the_task_after_a_last_commit() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.group.fail(TaskError::fatal("fenced"));
    assert_eq!(stage.end().as_deref(), Some("fenced"));
    assert_eq!(stage.committed(), (Some(1), Some(1)));
}

#[test]
fn a_consumer_that_breaks_during_a_put_fails_the_task_after_it() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.stick("put");
    stage.append(0, 1);
    stage.settle();
    stage.group.fail(TaskError::fatal("fenced"));
    stage.settle();
    assert!(stage.is_running());
    stage.unstick();
    assert_eq!(stage.end().as_deref(), Some("fenced"));
    assert_eq!(stage.committed().0, Some(2));
}

#[test]
fn dropping_the_task_commits_nothing_more() {
    let mut stage = buffered(&[]).start_with(2);
    stage.script().keeps = 1;
    stage.pass(1000);
    let before = stage.committed();
    stage.append(0, 5);
    stage.settle();
    stage.log();
    stage.sim = Sim::new(2);
    assert_eq!(stage.log(), ["drop"]);
    assert_eq!(stage.committed(), before);
    stage.start();
    stage.group.assign(&[t(0), t(1)]);
    assert!(stage.log_of(&["put"])[0].contains("t-1@1"));
}
