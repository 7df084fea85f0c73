//! When commits are made, and what they say.

use super::*;

#[test]
fn offsets_are_committed_once_an_interval_and_only_when_they_move() {
    let mut stage = direct(&[]).start_with(2);
    stage.settle();
    stage.log();
    stage.pass(999);
    assert_eq!(stage.log(), [""; 0]);
    stage.pass(1);
    assert_eq!(stage.log(), ["put", "pre_commit running", "commit t-0=2 t-1=2"]);
    stage.pass(3000);
    assert_eq!(stage.log_of(&["commit"]), [""; 0], "unchanged");
    stage.append(1, 1);
    stage.pass(1000);
    assert_eq!(stage.log_of(&["commit"]), ["commit t-1=3"]);
    assert_eq!(stage.reports.commits(), (2, 0));
    stage.stop();
    assert_eq!(stage.log_of(&["commit_now"]), [""; 0], "nothing is new");
}

#[test]
fn held_records_hold_the_commit_back() {
    let mut stage = buffered(&[]).start_with(3);
    stage.script().keeps = 2;
    stage.pass(1000);
    assert_eq!(stage.committed(), (Some(3), Some(1)), "the last two of all are held");
    stage.stop();
    assert_eq!(stage.committed(), (Some(3), Some(3)));
}

#[test]
fn positions_behind_the_last_record_are_committed() {
    let mut stage = direct(&[]);
    stage.append(0, 1);
    stage.group.append_marker(&t(0));
    stage.group.assign(&[t(0)]);
    stage.start();
    stage.pass(1000);
    assert_eq!(stage.committed().0, Some(2));
    stage.group.append_marker(&t(0));
    stage.pass(1000);
    assert_eq!(stage.committed().0, Some(3), "without any record");
}

#[test]
fn a_sink_asks_for_a_commit_and_for_an_early_call() {
    let mut stage = direct(&[]).start_with(0);
    stage.settle();
    stage.on_put(|records, cx| {
        if !records.is_empty() {
            cx.request_commit();
            cx.wake_after(Duration::from_millis(20));
        }
        Ok(())
    });
    stage.log();
    stage.append(0, 1);
    assert_eq!(stage.log(), ["put t-0@0", "pre_commit running", "commit t-0=1"]);
    stage.pass(19);
    assert_eq!(stage.log(), [""; 0]);
    stage.pass(1);
    assert_eq!(stage.log(), ["put"]);
    stage.pass(500);
    assert_eq!(stage.log_of(&["put"]), [""; 0], "for once only");
}

#[test]
fn one_commit_is_under_way_at_a_time() {
    let mut stage = direct(&[("offset.flush.timeout.ms", "3000")]).start_with(1);
    stage.settle();
    stage.group.hold_commits(true);
    stage.pass(1000);
    stage.append(0, 1);
    stage.log();
    stage.pass(2999);
    assert_eq!(stage.log_of(&["pre_commit", "commit"]), [""; 0]);
    stage.pass(1);
    assert_eq!(stage.log_of(&["pre_commit", "commit"]), ["pre_commit running", "commit t-0=2 t-1=1"]);
    assert!(stage.reports.warnings().contains("a commit has no result after 3000 ms"));
    stage.group.hold_commits(false);
    stage.settle();
    assert_eq!(stage.reports.commits(), (1, 1), "the late result of the first is not counted");
}

#[test]
fn a_refused_commit_is_tried_again_and_the_task_goes_on() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.group.fail_commits(2);
    stage.pass(2000);
    assert_eq!(stage.log_of(&["commit"]), ["commit t-0=1 t-1=1"; 2]);
    assert_eq!(stage.committed(), (None, None));
    stage.pass(1000);
    assert_eq!(stage.committed(), (Some(1), Some(1)));
    assert_eq!(stage.reports.commits(), (1, 2));
}

#[test]
fn a_refused_last_commit_does_not_fail_a_stop() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.group.fail_commits(1);
    stage.stop();
    assert_eq!(stage.end(), None);
    assert!(stage.reports.warnings().contains("they are delivered again"));
}

#[test]
fn a_result_that_nobody_awaits_is_ignored() {
    let mut stage = direct(&[]).start_with(1);
    stage.settle();
    stage.group.answer_commit(77, Ok(()));
    stage.settle();
    assert_eq!(stage.reports.commits(), (0, 0));
    stage.pass(1000);
    assert_eq!(stage.committed(), (Some(1), Some(1)));
}

#[test]
fn a_sink_that_opts_out_commits_nothing() {
    let mut stage = buffered(&[]).start_with(1);
    stage.script().answer = Answer::Nothing;
    stage.pass(3000);
    assert_eq!(stage.log_of(&["commit"]), [""; 0]);
    assert!(stage.is_running());
}

#[test]
fn a_sink_that_holds_what_it_calls_written_fails() {
    let mut stage = buffered(&[]).start_with(3);
    stage.script().keeps = 2;
    stage.script().answer = Answer::Everything;
    stage.pass(1000);
    let end = stage.end().unwrap();
    assert_eq!(
        end,
        "`pre_commit` answers `all()`, but the sink still holds 2 records of `t-1`: write them first, or answer `except(&held)`"
    );
    assert_eq!(stage.committed(), (None, None));
}

#[test]
fn a_sink_that_holds_what_it_calls_written_on_closing_fails() {
    for stopping in [false, true] {
        let mut stage = buffered(&[]).start_with(3);
        stage.settle();
        stage.script().answer = Answer::Everything;
        if stopping {
            stage.stop();
        } else {
            stage.group.revoke(&[t(0)]);
        }
        let end = stage.end().unwrap();
        assert!(
            end.starts_with("`pre_commit` answers `all_written()`, but the sink still holds 3 records of `t-0`"),
            "{end}"
        );
        assert_eq!(stage.committed(), (None, None));
    }
}
