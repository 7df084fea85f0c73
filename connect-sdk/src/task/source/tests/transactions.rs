//! Goal: what is seen, and the stored offsets, are those of whole transactions; every record is seen once, in order.
//! Method: the loop on fakes with a transactional producer, killed, stopped, paused and failed at any moment.

use super::{numbers, rig::*};
use crate::{
    task::{
        TaskEnd,
        ports::{SkipReason, TargetState, TaskEvent},
    },
    testkit::Random,
};
use std::{sync::Arc, time::Duration};

fn rig(seed: u64, acts: impl IntoIterator<Item = Act>) -> Rig {
    let mut rig = Rig::new(seed, acts);
    rig.exactly_once = Some("connect-standalone-c-0");
    rig
}

fn with_boundary(seed: u64, boundary: &str, acts: impl IntoIterator<Item = Act>) -> Rig {
    let mut rig = rig(seed, acts);
    rig.set("transaction.boundary", boundary);
    rig
}

/// Of each slot exactly the records below its stored offset are seen, once and in order.
fn assert_whole(rig: &Rig, seed: u64) {
    let seen = rig.kafka.texts();
    for slot in 0..rig.n_slots {
        let of_slot: Vec<_> = seen.iter().filter(|t| t.starts_with(&format!("{slot}:"))).cloned().collect();
        assert_eq!(of_slot, numbers(slot, 0..rig.stored(slot).unwrap_or(0)), "slot {slot}, seed {seed}");
    }
}

#[test]
fn each_poll_is_a_transaction_and_its_offsets_are_in_it() {
    let mut rig = rig(1, [Act::Emit(5), Act::Emit(3)]);
    rig.kafka.plan(|plan| plan.hold_acks = true);
    rig.start();
    rig.run_for(500);
    assert_eq!((rig.kafka.n_records(), rig.stored(0)), (0, None), "nothing is committed before it is acknowledged");
    assert_eq!(rig.reports.records(), (8, 0));
    rig.kafka.plan(|plan| plan.hold_acks = false);
    rig.run_for(50);
    assert_eq!(rig.kafka.texts(), numbers(0, 0..8));
    assert_eq!((rig.stored(0), rig.kafka.n_transactions()), (Some(8), 2));
    assert_eq!(rig.reports.records(), (8, 8));
    rig.run_for(60_000);
    assert_eq!(rig.kafka.n_transactions(), 2, "an idle task writes nothing");
    assert_eq!(rig.shared().told, [[(0, 5)], [(0, 8)]], "the hook hears of what is committed");
}

#[test]
fn an_interval_ends_transactions_also_while_a_poll_waits() {
    let mut rig = with_boundary(1, "interval", [Act::Emit(2), Act::Emit(2)]);
    rig.set("transaction.boundary.interval.ms", "500");
    rig.start();
    rig.run_for(450);
    assert_eq!(rig.kafka.n_records(), 0);
    rig.run_for(100);
    assert_eq!((rig.kafka.n_records(), rig.stored(0), rig.kafka.n_transactions()), (4, Some(4), 1));
    rig.run_for(10_000);
    assert_eq!(rig.kafka.n_transactions(), 1);
}

#[test]
fn a_transaction_ends_with_the_poll_that_makes_it_large_enough() {
    for (key, limit) in [("transaction.boundary.max.records", "5"), ("transaction.boundary.max.bytes", "30")] {
        let mut rig = with_boundary(1, "interval", [Act::Emit(2), Act::Emit(2), Act::Emit(2), Act::Emit(2)]);
        rig.set("transaction.boundary.interval.ms", "60000");
        rig.set(key, limit);
        rig.start();
        rig.run_for(1000);
        assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..6), Some(6)), "{key}");
        rig.stop();
        assert_eq!(rig.stored(0), Some(8), "what is complete is committed at a stop; {key}");
    }
}

#[test]
fn a_kill_at_any_moment_neither_loses_nor_repeats() {
    for seed in 0..300 {
        let random = &mut Random::new(seed);
        let mut rig = rig(seed, []);
        if random.chance(50) {
            rig.set("transaction.boundary", "interval");
            rig.set("transaction.boundary.interval.ms", "40");
        }
        rig.n_slots = 2;
        rig.shared().then = Some(if random.chance(50) { Act::Emit(5) } else { Act::Group(4) });
        rig.shared().total = 120;
        rig.set("inflight.max.records", "30");
        rig.kafka.plan(|plan| {
            plan.out_of_order = random.chance(50);
            plan.ack_delay.1 = Duration::from_millis(30);
            plan.commit_delay.1 = Duration::from_millis(30);
        });
        for life in 0..12 {
            let n_aborts = u32::try_from(random.below(2)).unwrap();
            rig.kafka.plan(|plan| plan.abortable_commits = n_aborts);
            rig.start();
            rig.run_for(random.below(150) as u64);
            let how = random.below(4);
            if how == 0 {
                rig.stop();
            } else if how == 1 {
                rig.wishes.wish(TargetState::Paused);
                rig.run_for(random.below(100) as u64);
                rig.wishes.wish(TargetState::Started);
                rig.run_for(random.below(100) as u64);
                rig.kill(seed * 100 + life);
            } else {
                // The broker still has what is open: the next life fences and aborts it.
                rig.kill(seed * 100 + life);
            }
            assert_whole(&rig, seed);
        }
        rig.start();
        rig.run_for(600_000);
        rig.stop();
        assert_whole(&rig, seed);
        assert_eq!((rig.stored(0), rig.stored(1)), (Some(120), Some(120)), "seed {seed}");
    }
}

#[test]
fn a_transaction_that_must_be_aborted_is_repeated_from_the_committed_offsets() {
    let mut rig = rig(1, [Act::Emit(3)]);
    rig.kafka.plan(|plan| plan.abortable_commits = 2);
    rig.shared().then = Some(Act::Emit(3));
    rig.shared().total = 9;
    rig.start();
    rig.run_for(5000);
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..9), Some(9)));
    assert_eq!(rig.shared().opened_at, [[0], [0], [0]]);
    let warned = rig.reports.events().into_iter().any(
        |event| matches!(event, TaskEvent::Warning(text) if text.contains("a transaction was aborted: the coordinator wants an abort")),
    );
    assert!(warned, "{:?}", rig.reports.events());
}

#[test]
fn a_transaction_that_fails_again_and_again_fails_the_task_in_time() {
    let mut rig = rig(1, []);
    rig.shared().then = Some(Act::Emit(3));
    rig.shared().total = 9;
    rig.set("errors.retry.timeout", "5000");
    rig.kafka.plan(|plan| plan.abortable_commits = u32::MAX);
    rig.start();
    let failure = rig.failure();
    assert!(failure.contains("errors.retry.timeout") && failure.contains("wants an abort"), "{failure}");
    assert_eq!((rig.kafka.n_records(), rig.stored(0)), (0, None));
}

#[test]
fn a_fenced_task_fails_and_never_writes_again() {
    let mut rig = rig(1, [Act::Emit(2)]);
    rig.start();
    rig.run_for(100);
    rig.kafka.fence("connect-standalone-c-0");
    rig.shared().acts.push_back(Act::Emit(2));
    let mut late = self::rig(2, [Act::Emit(4)]);
    rig.wishes.wish(TargetState::Paused);
    rig.run_for(10);
    rig.wishes.wish(TargetState::Started);
    let failure = rig.failure();
    assert!(
        failure.contains("fenced: another producer has the transactional id `connect-standalone-c-0`"),
        "{failure}"
    );
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..2), Some(2)));
    late.kafka.plan(|plan| plan.fatal_commit = true);
    late.start();
    assert!(late.failure().contains("the transaction has expired"));
    assert_eq!((late.kafka.n_records(), late.stored(0)), (0, None));
}

#[test]
fn a_refused_record_fails_the_task_whatever_is_tolerated_and_nothing_of_it_is_seen() {
    let mut rig = rig(1, [Act::Emit(2), Act::Emit(2)]);
    rig.set("errors.tolerance", "all");
    rig.kafka.plan(|plan| {
        plan.refuse = Some(Arc::new(|record| (record.text() == "0:3").then(|| "not authorized".to_owned())));
    });
    rig.start();
    let failure = rig.failure();
    assert!(failure.contains("not authorized"), "{failure}");
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..2), Some(2)));
    assert_eq!(rig.reports.skipped(SkipReason::Refused), 0);
}

#[test]
fn a_record_that_cannot_be_converted_takes_its_transaction_back() {
    let mut rig = rig(1, [Act::Emit(2), Act::Say("t", "bad".to_owned())]);
    rig.pass = false;
    rig.start();
    let failure = rig.failure();
    assert!(failure.contains("not a good text"), "{failure}");
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..2), Some(2)));
}

#[test]
fn a_record_that_is_passed_over_moves_the_offset_with_its_neighbours() {
    let mut rig = with_boundary(1, "interval", [Act::Emit(1), Act::Say("t", "bad".to_owned()), Act::Emit(1)]);
    rig.set("errors.tolerance", "all");
    rig.pass = false;
    rig.start();
    rig.run_for(1100);
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (vec!["0:0".to_owned(), "0:2".to_owned()], Some(3)));
    assert_eq!(rig.kafka.n_transactions(), 1);
}

#[test]
fn offsets_without_records_are_committed_alone_and_only_if_they_have_moved() {
    let mut rig = rig(1, [Act::Advance(4)]);
    rig.start();
    rig.run_for(900);
    assert_eq!(rig.stored(0), None, "they are no reason for a transaction each");
    rig.run_for(200);
    assert_eq!((rig.stored(0), rig.kafka.n_transactions(), rig.kafka.n_records()), (Some(4), 1, 0));
    rig.shared().acts.push_back(Act::Advance(0));
    rig.wishes.wish(TargetState::Paused);
    rig.run_for(10);
    rig.wishes.wish(TargetState::Started);
    rig.run_for(5000);
    rig.stop();
    assert_eq!(rig.kafka.n_transactions(), 1, "an offset that has not moved is not written again");
}

#[test]
fn marks_of_the_connector_end_transactions() {
    let acts = [Act::EmitAndCommit, Act::Emit(2), Act::Commit, Act::EmitAndAbort(2), Act::Emit(1)];
    let mut rig = with_boundary(1, "connector", acts);
    rig.start();
    rig.run_for(1000);
    assert_eq!(rig.kafka.texts(), numbers(0, 0..5), "two that were marked, the rest by the mark of a later poll");
    assert_eq!(rig.stored(0), Some(7), "the offsets of aborted records are stored: they are gone on purpose");
    rig.stop();
    assert_eq!((rig.kafka.n_records(), rig.stored(0)), (5, Some(7)), "what has no mark is taken back");
    rig.shared().acts.push_back(Act::Emit(1));
    rig.shared().acts.push_back(Act::Commit);
    rig.start();
    rig.run_for(100);
    assert_eq!(rig.kafka.texts(), [numbers(0, 0..5), numbers(0, 7..8)].concat());
    assert_eq!(rig.stored(0), Some(8));
    assert_eq!(rig.shared().opened_at, [[0], [7]]);
}

#[test]
fn marks_mean_nothing_to_a_task_with_another_boundary() {
    let mut rig = rig(1, [Act::EmitAndCommit, Act::EmitAndAbort(2)]);
    rig.start();
    rig.run_for(100);
    assert_eq!((rig.kafka.texts(), rig.stored(0), rig.kafka.n_transactions()), (numbers(0, 0..5), Some(5), 2));
}

#[test]
fn records_of_one_poll_are_cut_at_marks_with_all_that_belongs_to_them() {
    let sent = |boundary| {
        let mut rig = with_boundary(1, boundary, [Act::EmitAndCommit, Act::EmitAndCommit, Act::Commit]);
        rig.start();
        rig.run_for(100);
        (rig.kafka.records(), rig.kafka.n_transactions())
    };
    let (by_marks, by_polls) = (sent("connector"), sent("poll"));
    assert_eq!(by_marks.0, by_polls.0, "keys, values and headers are the same");
    assert_eq!((by_marks.1, by_polls.1), (3, 2));
}

#[test]
fn acknowledgements_are_told_once_their_transaction_is_committed() {
    let mut rig = with_boundary(1, "interval", [Act::Acked, Act::Acked]);
    rig.start();
    rig.run_for(900);
    assert!(rig.shared().acked.is_empty());
    rig.run_for(200);
    // In the order of the broker's answers.
    rig.shared().acked.sort_unstable();
    assert_eq!(rig.shared().acked, [0, 1]);
}

#[test]
fn a_retriable_error_commits_what_is_complete() {
    let mut rig = with_boundary(1, "interval", [Act::Emit(3), Act::EmitAndFail(None), Act::Emit(1)]);
    rig.set("transaction.boundary.interval.ms", "60000");
    rig.start();
    rig.run_for(1000);
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..3), Some(3)), "and nothing of the failed poll");
    assert_eq!(rig.shared().opened_at, [[0], [3]]);
    rig.stop();
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..4), Some(4)));
}

#[test]
fn a_commit_that_takes_long_is_waited_for_before_the_source_is_opened_again() {
    let mut rig = rig(1, [Act::Emit(3)]);
    rig.kafka.plan(|plan| plan.commit_delay = (Duration::from_secs(20), Duration::from_secs(20)));
    rig.start();
    rig.run_for(100);
    rig.wishes.wish(TargetState::Paused);
    rig.run_for(6000);
    assert_eq!(rig.shared().n_dropped, 1);
    rig.shared().acts.push_back(Act::Emit(1));
    rig.wishes.wish(TargetState::Started);
    rig.run_for(8000);
    assert_eq!(rig.shared().opened_at, [[0]], "where it would go on is not known yet");
    rig.kafka.plan(|plan| plan.commit_delay = (Duration::ZERO, Duration::ZERO));
    rig.run_for(10_000);
    assert_eq!(rig.shared().opened_at, [[0], [3]]);
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..4), Some(4)));
    assert!(matches!(
        {
            rig.wishes.wish(TargetState::Stopped);
            rig.end()
        },
        TaskEnd::Stopped
    ));
}

#[test]
fn transactions_that_fail_again_and_again_are_tried_at_growing_intervals() {
    let mut rig = rig(1, []);
    rig.shared().then = Some(Act::Emit(1));
    rig.kafka.plan(|plan| {
        plan.refuse = Some(Arc::new(|_| Some("timed out".to_owned())));
        plan.refusals_pass = true;
    });
    rig.start();
    rig.run_for(10_000);
    let n_lives = rig.shared().opened_at.len();
    assert!((4..=6).contains(&n_lives), "after 300, 600, 1200, 2400 ms ..: {n_lives} lives");
    rig.kafka.plan(|plan| plan.refuse = None);
    rig.shared().total = 3;
    rig.run_for(20_000);
    assert_eq!((rig.kafka.texts(), rig.stored(0)), (numbers(0, 0..3), Some(3)));
}
