//! Errors that trying again may cure.

use super::*;

#[test]
fn a_direct_sink_is_lent_the_same_records_again_with_a_growing_delay() {
    let mut stage = direct(&[]).start_with(2);
    stage.settle();
    stage.log();
    for _ in 0..3 {
        stage.fail("put", TaskError::retriable("busy"));
    }
    stage.append(0, 1);
    assert_eq!(stage.log(), ["put t-0@2", "pause t-0 t-1"]);
    stage.append(0, 2);
    stage.pass(299);
    assert_eq!(stage.log_of(&["put"]), [""; 0]);
    stage.pass(1);
    assert_eq!(stage.log(), ["put t-0@2"]);
    stage.pass(599);
    assert_eq!(stage.log_of(&["put"]), [""; 0]);
    stage.pass(1);
    assert_eq!(stage.log_of(&["put"]), ["put t-0@2"]);
    stage.pass(1200);
    assert_eq!(stage.log_of(&["put", "resume"]), ["put t-0@2", "resume t-0 t-1", "put t-0@3 t-0@4"]);
    stage.pass(1000);
    assert_eq!(stage.committed(), (Some(5), Some(2)));
}

#[test]
fn an_error_with_its_own_delay_is_not_tried_before_it() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.fail("put", TaskError::retriable_after("closed for lunch", Duration::from_secs(60)));
    stage.append(0, 1);
    stage.settle();
    stage.log();
    stage.pass(59_999);
    assert_eq!(stage.log_of(&["put"]), [""; 0], "not at the flush interval, nor with an empty batch");
    stage.pass(1);
    assert_eq!(stage.log_of(&["put"]), ["put t-0@1"]);
}

#[test]
fn commits_go_on_while_records_are_lent_again() {
    let mut stage = direct(&[]).start_with(2);
    stage.settle();
    stage.fail("put", TaskError::retriable_after("busy", Duration::from_secs(3)));
    stage.append(0, 1);
    stage.pass(1000);
    assert_eq!(stage.committed(), (Some(2), Some(2)), "what was put before, not what is lent");
    stage.pass(3000);
    assert_eq!(stage.committed(), (Some(3), Some(2)));
}

#[test]
fn a_revocation_takes_its_records_out_of_what_is_lent_again() {
    for lost in [false, true] {
        let mut stage = direct(&[]).start_with(1);
        stage.settle();
        stage.fail("put", TaskError::retriable("busy"));
        stage.append(0, 1);
        stage.append(1, 1);
        stage.settle();
        stage.log();
        if lost {
            stage.group.lose(&[t(0)]);
            assert_eq!(stage.log(), ["closed Lost t-0"]);
        } else {
            stage.group.revoke(&[t(0)]);
            assert_eq!(stage.log(), ["pre_commit Revoked t-0", "closed Revoked t-0", "commit_now t-0=1", "released"]);
        }
        // Both records came in two batches here if the group says so; what is left is put.
        stage.pass(1300);
        let puts = stage.log_of(&["put"]);
        assert!(puts.iter().all(|put| !put.contains("t-0")), "{puts:?}");
        assert!(puts.iter().any(|put| put.contains("t-1@1")), "{puts:?}");
        assert_eq!(stage.committed().1, Some(2));
    }
}

#[test]
fn new_partitions_wait_until_the_retry_is_over() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.fail("put", TaskError::retriable("busy"));
    stage.append(0, 1);
    stage.settle();
    stage.log();
    stage.group.append(&t(2), RawRecord::value("v"));
    stage.group.assign(&[t(2)]);
    assert_eq!(stage.log(), ["assigned t-2", "start t-2=0", "pause t-2"]);
    stage.pass(300);
    assert_eq!(stage.log_of(&["put"]), ["put t-0@1", "put t-2@0"]);
}

#[test]
fn a_stop_during_a_retry_commits_what_was_put_before() {
    let mut stage = direct(&[]).start_with(2);
    stage.settle();
    stage.fail("put", TaskError::retriable("busy"));
    stage.append(0, 1);
    stage.settle();
    stage.stop();
    assert_eq!(stage.end(), None);
    assert_eq!(stage.committed(), (Some(2), Some(2)));
}

#[test]
fn the_time_for_retries_is_limited() {
    let mut stage = direct(&[("put.retry.timeout.ms", "1000")]).start_with(1);
    stage.settle();
    stage.log();
    for _ in 0..9 {
        stage.fail("put", TaskError::retriable("busy"));
    }
    stage.append(0, 1);
    stage.pass(1000);
    let end = stage.end().unwrap();
    assert_eq!(end, "`put` still fails after 1000 ms, the limit of `put.retry.timeout.ms`: busy");
    assert_eq!(stage.log_of(&["put"]).len(), 4, "at 0, 300, 900 and 1000 ms");
    assert_eq!(stage.committed(), (Some(1), Some(1)), "the final commit of what was put before");
}

#[test]
fn a_buffered_sink_begins_another_life_from_the_committed_offsets() {
    let mut stage = buffered(&[]).start_with(2);
    stage.script().keeps = 0;
    stage.pass(1000);
    assert_eq!(stage.committed(), (Some(2), Some(2)));
    stage.script().keeps = 9;
    stage.append(0, 2);
    stage.settle();
    stage.log();
    stage.fail("put", TaskError::retriable("busy"));
    stage.append(0, 1);
    assert_eq!(stage.log(), ["put t-0@4", "drop", "pause t-0 t-1"]);
    stage.pass(300);
    assert_eq!(
        stage.log(),
        ["open", "assigned t-0 t-1", "seek t-0=2 t-1=2", "resume t-0 t-1", "put t-0@2 t-0@3 t-0@4"]
    );
    assert!(stage.reports.warnings().contains("`put` failed; in 300 ms the sink is opened again"));
    stage.stop();
    assert_eq!(stage.committed(), (Some(5), Some(2)));
}

#[test]
fn a_failed_pre_commit_begins_another_life_too() {
    let mut stage = buffered(&[]).start_with(2);
    stage.settle();
    stage.log();
    stage.fail("pre_commit", TaskError::retriable_after("busy", Duration::from_millis(50)));
    stage.pass(1000);
    assert_eq!(stage.log(), ["put", "pre_commit running", "drop", "pause t-0 t-1"]);
    stage.pass(50);
    assert_eq!(
        stage.log(),
        ["open", "assigned t-0 t-1", "seek t-0=0 t-1=0", "resume t-0 t-1", "put t-0@0 t-0@1 t-1@0 t-1@1"]
    );
}

#[test]
fn a_fatal_pre_commit_fails_the_task() {
    let mut stage = buffered(&[]).start_with(2);
    stage.settle();
    stage.fail("pre_commit", TaskError::fatal("no such table"));
    stage.pass(1000);
    assert_eq!(stage.end().as_deref(), Some("no such table"));
}

#[test]
fn lives_that_reach_nothing_wait_longer_each_time() {
    let mut stage = buffered(&[("errors.retry.delay.max.ms", "1000")]);
    stage.append(0, 1);
    stage.group.assign(&[t(0)]);
    for _ in 0..4 {
        stage.fail("put", TaskError::retriable("busy"));
    }
    stage.start();
    stage.settle();
    stage.log();
    for delay in [300, 600, 1000] {
        stage.pass(delay - 1);
        assert_eq!(stage.log_of(&["open"]), [""; 0]);
        stage.pass(1);
        assert_eq!(stage.log_of(&["open", "put"]), ["open", "put t-0@0"]);
    }
    stage.pass(1000);
    assert_eq!(stage.log_of(&["open", "put"]), ["open", "put t-0@0"]);
    stage.stop();
    assert_eq!(stage.committed().0, Some(1));
}

#[test]
fn opening_is_tried_again_while_partitions_come_and_go() {
    let mut stage = direct(&[]);
    stage.fail("open", TaskError::retriable("no route"));
    stage.fail("open", TaskError::retriable("no route"));
    stage.append(0, 1);
    stage.start();
    stage.settle();
    stage.group.assign(&[t(0), t(1)]);
    stage.settle();
    stage.group.revoke(&[t(1)]);
    assert_eq!(stage.log(), ["open", "start t-0=0 t-1=0", "pause t-0 t-1", "released"]);
    stage.pass(899);
    assert_eq!(stage.log(), ["open"]);
    stage.pass(1);
    assert_eq!(stage.log(), ["open", "assigned t-0", "seek t-0=0", "resume t-0", "put t-0@0"]);
}

#[test]
fn a_fatal_open_fails_the_task() {
    let mut stage = direct(&[]);
    stage.fail("open", TaskError::fatal("no such file"));
    stage.start();
    assert_eq!(stage.end().as_deref(), Some("no such file"));
    assert_eq!(stage.log(), ["open", "leave"]);
}

#[test]
fn a_retriable_error_of_assigned_opens_the_sink_again() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.log();
    stage.fail("assigned", TaskError::retriable("busy"));
    stage.group.assign(&[t(2)]);
    assert_eq!(stage.log(), ["assigned t-2", "start t-2=0", "drop", "pause t-0 t-1 t-2"]);
    stage.pass(300);
    assert_eq!(stage.log_of(&["open", "assigned"]), ["open", "assigned t-0 t-1 t-2"]);
    assert!(stage.is_running());
}

#[test]
fn a_stop_while_the_sink_is_away_commits_nothing_and_ends() {
    let mut stage = buffered(&[]).start_with(1);
    stage.settle();
    stage.fail("pre_commit", TaskError::retriable("busy"));
    stage.pass(1000);
    stage.log();
    stage.stop();
    assert_eq!(stage.log(), ["leave"]);
    assert_eq!(stage.end(), None);
    assert_eq!(stage.committed(), (None, None));
}
