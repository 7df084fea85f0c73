//! Partitions come and go.

use super::*;

#[test]
fn a_revoked_partition_is_committed_before_it_is_given_up() {
    let mut stage = buffered(&[]).start_with(2);
    assert_eq!(stage.log(), ["open", "assigned t-0 t-1", "start t-0=0 t-1=0", "put t-0@0 t-0@1 t-1@0 t-1@1"]);
    stage.group.revoke(&[t(0)]);
    assert_eq!(stage.log(), ["pre_commit Revoked t-0", "closed Revoked t-0", "commit_now t-0=2", "released"]);
    stage.append(0, 1);
    stage.append(1, 1);
    assert_eq!(stage.log(), ["put t-1@2"]);
    stage.stop();
    assert_eq!(
        stage.log(),
        ["pre_commit Stopping t-1", "closed Stopping t-1", "commit_now t-1=3", "close", "drop", "leave"]
    );
    assert_eq!(stage.end(), None);
    assert_eq!(stage.committed(), (Some(2), Some(3)));
}

#[test]
fn of_lost_partitions_nothing_is_committed() {
    let mut stage = buffered(&[]).start_with(2);
    stage.log();
    stage.group.lose(&[t(0)]);
    assert_eq!(stage.log(), ["closed Lost t-0"]);
    assert!(stage.reports.warnings().contains("lost without a last commit: `t-0`"));
    stage.stop();
    assert_eq!(stage.log_of(&["pre_commit", "commit_now"]), ["pre_commit Stopping t-1", "commit_now t-1=2"]);
    assert_eq!(stage.committed(), (None, Some(2)));
}

#[test]
fn the_last_commit_waits_for_the_one_that_is_under_way() {
    let mut stage = direct(&[]).start_with(2);
    stage.settle();
    stage.group.hold_commits(true);
    stage.pass(1000);
    stage.append(0, 1);
    assert_eq!(stage.log_of(&["commit"]), ["commit t-0=2 t-1=2"]);
    stage.group.revoke(&[t(0)]);
    assert_eq!(stage.log(), ["pre_commit Revoked t-0", "closed Revoked t-0"]);
    stage.group.hold_commits(false);
    assert_eq!(stage.log(), ["commit_now t-0=3", "released"]);
    assert_eq!(stage.reports.commits(), (2, 0));
}

#[test]
fn the_last_commit_of_a_stop_does_not_wait_for_ever() {
    let mut stage = direct(&[("task.shutdown.graceful.timeout.ms", "1000")]).start_with(2);
    stage.settle();
    stage.group.hold_commits(true);
    stage.pass(1000);
    stage.append(0, 1);
    stage.log();
    stage.stop();
    assert!(stage.is_running());
    stage.pass(500);
    assert_eq!(stage.log_of(&["commit_now", "leave"]), ["commit_now t-0=3 t-1=2", "leave"]);
    assert_eq!(stage.end(), None);
}

#[test]
fn the_result_of_a_commit_after_the_revocation_changes_nothing() {
    let mut stage = direct(&[]).start_with(2);
    stage.settle();
    stage.group.hold_commits(true);
    stage.pass(1000);
    assert_eq!(stage.log_of(&["commit"]), ["commit t-0=2 t-1=2"]);
    stage.group.revoke(&[t(0), t(1)]);
    stage.pass(5000);
    assert_eq!(stage.log_of(&["commit_now", "released"]), ["commit_now t-0=2 t-1=2", "released"]);
    stage.group.assign(&[t(0)]);
    stage.append(0, 2);
    assert_eq!(stage.log_of(&["start", "put"]), ["start t-0=2", "put t-0@2 t-0@3"]);
    stage.group.hold_commits(false);
    stage.pass(1000);
    assert_eq!(stage.log_of(&["commit"]), ["commit t-0=4"]);
    assert_eq!(stage.committed(), (Some(4), Some(2)));
}

#[test]
fn a_revocation_during_a_slow_put_waits_for_it_and_is_told() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.log();
    stage.stick("put");
    stage.append(0, 1);
    stage.settle();
    stage.group.revoke(&[t(0)]);
    assert_eq!(stage.log(), ["put t-0@1"]);
    let told = "partitions are revoked during `put`, they are given up after it: `t-0`";
    assert!(stage.reports.events().contains(&TaskEvent::Info(told.to_owned())));
    stage.unstick();
    assert_eq!(stage.log(), ["pre_commit Revoked t-0", "closed Revoked t-0", "commit_now t-0=2", "released"]);
}

#[test]
fn records_that_wait_behind_a_slow_put_go_with_their_partition() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.log();
    stage.stick("put");
    stage.append(0, 1);
    stage.settle();
    stage.append(0, 1);
    stage.append(1, 1);
    stage.settle();
    stage.group.revoke(&[t(0)]);
    stage.settle();
    stage.unstick();
    assert_eq!(stage.log_of(&["put", "commit_now"]), ["put t-0@1", "commit_now t-0=2", "put t-1@1"]);
}

#[test]
fn a_partition_that_is_lost_during_its_last_commit_is_not_committed() {
    let mut stage = buffered(&[]).start_with(2);
    stage.settle();
    stage.stick("pre_commit");
    stage.wishes.wish(TargetState::Stopped);
    stage.settle();
    stage.group.lose(&[t(0)]);
    stage.settle();
    stage.unstick();
    assert_eq!(stage.end(), None);
    assert_eq!(stage.committed(), (None, Some(2)));
}

#[test]
fn a_stop_meets_a_revocation_that_nobody_has_served() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.stick("put");
    stage.append(0, 1);
    stage.settle();
    stage.log();
    stage.group.revoke(&[t(0)]);
    stage.wishes.wish(TargetState::Stopped);
    stage.settle();
    stage.unstick();
    assert_eq!(
        stage.log_of(&["pre_commit", "commit_now", "released", "leave"]),
        ["pre_commit Stopping t-0 t-1", "commit_now t-0=2 t-1=1", "released", "leave"]
    );
    assert_eq!(stage.end(), None);
}

#[test]
fn a_partition_that_comes_twice_begins_anew() {
    let mut stage = buffered(&[]).start_with(1);
    stage.settle();
    stage.log();
    stage.group.assign(&[t(0)]);
    assert_eq!(stage.log(), ["closed Lost t-0", "assigned t-0", "start t-0=0", "put t-0@0"]);
}

#[test]
fn an_empty_assignment_and_an_empty_revocation_are_answered_and_not_told() {
    let mut stage = direct(&[]).start_with(0);
    stage.settle();
    stage.log();
    stage.group.revoke(&[]);
    stage.group.assign(&[]);
    assert_eq!(stage.log(), ["released", "start"]);
}

#[test]
fn a_sink_may_say_where_new_partitions_start() {
    let mut stage = direct(&[]);
    stage.append(0, 9);
    stage.settle();
    stage.script().start = StartOffsets::none().at(&t(0), 7);
    stage.start();
    stage.settle();
    stage.group.assign(&[t(0)]);
    assert_eq!(stage.log(), ["open", "assigned t-0", "start t-0=7", "put t-0@7 t-0@8"]);
    stage.pass(1000);
    assert_eq!(stage.committed().0, Some(9));
}

#[test]
fn a_start_offset_counts_when_a_sink_is_opened_again_too() {
    let mut stage = buffered(&[]).start_with(5);
    stage.settle();
    stage.log();
    stage.script().start = StartOffsets::none().at(&t(0), 3);
    stage.fail("pre_commit", TaskError::retriable("busy"));
    stage.pass(1300);
    assert_eq!(
        stage.log_of(&["assigned", "seek", "put"]),
        ["put", "assigned t-0 t-1", "seek t-0=3 t-1=0", "put t-0@3 t-0@4 t-1@0 t-1@1 t-1@2 t-1@3 t-1@4"]
    );
}

#[test]
fn a_start_offset_of_another_partition_fails_the_task() {
    for (start, text) in [
        (StartOffsets::none().at(&t(1), 7), "`t-1`, which was not assigned now; assigned were `t-0`"),
        (StartOffsets::none().at(&t(0), -2), "start offset -2 for `t-0`"),
    ] {
        let mut stage = direct(&[]);
        stage.script().start = start;
        stage.start();
        stage.settle();
        stage.group.assign(&[t(0)]);
        let end = stage.end().unwrap();
        assert!(end.contains(text), "{end}");
    }
}

#[test]
fn a_fatal_error_of_closed_fails_the_task_after_the_commit() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.fail("closed", TaskError::fatal("broken"));
    stage.group.revoke(&[t(0)]);
    assert_eq!(stage.end().as_deref(), Some("broken"));
    assert_eq!(stage.committed(), (Some(1), Some(1)));
}

#[test]
fn an_error_on_closing_commits_nothing_and_the_task_goes_on() {
    let mut stage = buffered(&[]).start_with(1);
    stage.settle();
    stage.log();
    stage.fail("pre_commit", TaskError::retriable("busy"));
    stage.group.revoke(&[t(0)]);
    assert_eq!(stage.log(), ["pre_commit Revoked t-0", "closed Revoked t-0", "released"]);
    assert!(stage.is_running());
    assert!(stage.reports.warnings().contains("delivered again: busy"));
    stage.fail("pre_commit", TaskError::fatal("disk full"));
    stage.group.revoke(&[t(1)]);
    assert_eq!(stage.end().as_deref(), Some("disk full"));
    assert_eq!(stage.committed(), (None, None));
}
