//! Goal: what is stored was accepted, what was accepted is stored, nothing is lost, and a good end leaves no duplicate.
//! Method: the loop on fakes and a virtual clock, a scripted source, and for each promise the way it could be broken.

mod errors;
mod faults;
mod rig;
mod transactions;

use super::*;
use crate::{task::ports::SkipReason, testkit::Random};
use rig::{Act, Rig};
use std::collections::BTreeMap;

fn numbers(slot: i64, range: std::ops::Range<i64>) -> Vec<String> {
    range.map(|n| format!("{slot}:{n}")).collect()
}

#[test]
fn records_are_sent_and_their_offsets_stored_within_the_flush_interval() {
    let mut rig = Rig::new(1, [Act::Emit(5), Act::Emit(3)]);
    rig.start();
    rig.run_for(900);
    assert_eq!(rig.kafka.texts(), numbers(0, 0..8));
    assert_eq!(rig.stored(0), None, "before the interval is over");
    rig.run_for(200);
    assert_eq!(rig.stored(0), Some(8));
    let record = rig.kafka.records().remove(0);
    assert_eq!((record.topic.as_str(), record.key.as_deref()), ("t", Some(&b"k"[..])));
    assert_eq!(record.headers, [("h".to_owned(), Some(b"x".to_vec()))]);
    assert_eq!(rig.reports.events(), [TaskEvent::Running]);
    assert_eq!(rig.reports.records(), (8, 8));
    assert_eq!(rig.kafka.ensured(), ["t"], "once for each topic");
}

#[test]
fn a_converter_that_writes_gives_the_same_bytes_as_one_that_passes_through() {
    let sent = |pass| {
        let mut rig = Rig::new(1, [Act::Emit(3), Act::Group(2), Act::Say("u", "x".to_owned())]);
        rig.pass = pass;
        rig.start();
        rig.run_for(100);
        rig.kafka.records()
    };
    assert_eq!(sent(true), sent(false));
}

#[test]
fn a_good_stop_leaves_no_duplicate() {
    for seed in 0..150 {
        let mut rig = Rig::new(seed, []);
        let random = &mut Random::new(seed);
        rig.n_slots = 3;
        rig.shared().then = Some(Act::Emit(7));
        rig.shared().total = 200;
        rig.set("inflight.max.records", "60");
        rig.kafka.plan(|plan| plan.out_of_order = random.chance(50));
        for _ in 0..40 {
            rig.start();
            rig.run_for(random.below(20) as u64);
            rig.stop();
        }
        rig.start();
        rig.run_for(3000);
        rig.stop();
        let mut texts = rig.kafka.texts();
        texts.sort_unstable();
        let mut expected: Vec<_> = (0..3).flat_map(|slot| numbers(slot, 0..200)).collect();
        expected.sort_unstable();
        assert_eq!(texts, expected, "seed {seed}");
        assert_eq!(rig.shared().n_closed, 41, "each life was closed; seed {seed}");
    }
}

#[test]
fn a_kill_at_any_moment_loses_nothing() {
    for seed in 0..150 {
        let random = &mut Random::new(seed);
        let mut rig = Rig::new(seed, []);
        rig.n_slots = 2;
        rig.shared().then = Some(if random.chance(50) { Act::Emit(5) } else { Act::Group(4) });
        rig.shared().total = 120;
        rig.set("offset.flush", "ignored");
        rig.kafka.plan(|plan| {
            plan.out_of_order = random.chance(50);
            plan.ack_delay.1 = Duration::from_millis(1500);
        });
        rig.set("inflight.max.records", "30");
        let mut before = [0; 2];
        for life in 0..8 {
            rig.offsets.fail_next(u32::try_from(random.below(3)).unwrap());
            rig.start();
            rig.run_for(random.below(4000) as u64);
            rig.kill(seed * 100 + life);
            for slot in 0..2 {
                let stored = rig.stored(slot).unwrap_or(0);
                assert!(stored >= before[usize::try_from(slot).unwrap()], "went back; seed {seed}");
                before[usize::try_from(slot).unwrap()] = stored;
                let sent = rig.kafka.texts();
                for text in numbers(slot, 0..stored) {
                    assert!(sent.contains(&text), "{text} is below the stored offset but was not sent; seed {seed}");
                }
            }
        }
        rig.start();
        rig.run_for(600_000);
        rig.stop();
        let sent = rig.kafka.texts();
        for slot in 0..2 {
            let mut first_seen = sent.iter().filter(|t| t.starts_with(&format!("{slot}:"))).collect::<Vec<_>>();
            let mut seen = std::collections::HashSet::new();
            first_seen.retain(|t| seen.insert(*t));
            assert_eq!(first_seen, numbers(slot, 0..120).iter().collect::<Vec<_>>(), "seed {seed}");
            assert_eq!(rig.stored(slot), Some(120));
        }
    }
}

#[test]
fn a_stop_drops_a_waiting_poll_and_what_it_has_emitted() {
    let mut rig = Rig::new(1, [Act::Emit(2), Act::EmitAndHang]);
    rig.start();
    rig.run_for(50);
    rig.stop();
    assert_eq!(rig.kafka.texts(), numbers(0, 0..2));
    assert_eq!(rig.stored(0), Some(2));
    let shared = rig.shared();
    assert_eq!((shared.n_closed, shared.n_dropped), (1, 1));
}

#[test]
fn a_stop_does_not_wait_for_ever_for_acknowledgements() {
    let mut rig = Rig::new(1, [Act::Emit(2)]);
    rig.kafka.plan(|plan| plan.hold_acks = true);
    rig.start();
    rig.run_for(50);
    let before = rig.clock.now();
    rig.stop();
    assert_eq!((rig.clock.now() - before).as_millis(), 3750, "three quarters of the worker's patience");
    assert_eq!(rig.stored(0), None);
    assert!(rig.reports.warnings().contains("2 records were not acknowledged"), "{}", rig.reports.warnings());
}

#[test]
fn what_is_accepted_is_stored_before_a_stop_waits_for_the_rest() {
    let mut rig = Rig::new(1, [Act::Emit(2), Act::Say("slow", "s".to_owned())]);
    rig.kafka.plan(|plan| plan.stuck_topic = Some("slow".to_owned()));
    rig.start();
    rig.run_for(100);
    rig.wishes.wish(TargetState::Stopped);
    rig.run_for(100);
    assert_eq!((rig.has_ended(), rig.stored(0)), (false, Some(2)));
}

#[test]
fn a_pause_drops_the_source_and_a_resume_goes_on_behind_the_last_record() {
    let mut rig = Rig::new(1, [Act::Emit(5), Act::EmitAndHang, Act::Emit(2)]);
    rig.start();
    rig.run_for(100);
    rig.wishes.wish(TargetState::Paused);
    rig.run_for(5000);
    assert_eq!(rig.stored(0), Some(5));
    assert_eq!(rig.shared().n_dropped, 1);
    assert_eq!(rig.shared().n_polls, 2);
    rig.wishes.wish(TargetState::Started);
    rig.run_for(100);
    rig.stop();
    assert_eq!(rig.kafka.texts(), numbers(0, 0..7));
    assert_eq!(rig.shared().opened_at, [[0], [5]]);
    assert_eq!(rig.reports.events(), [TaskEvent::Running, TaskEvent::Paused, TaskEvent::Running]);
}

#[test]
fn a_task_that_starts_paused_opens_nothing() {
    let mut rig = Rig::new(1, [Act::Emit(1)]);
    rig.wishes.wish(TargetState::Paused);
    rig.start();
    rig.run_for(5000);
    assert!(rig.shared().opened_at.is_empty());
    rig.stop();
    assert_eq!(rig.reports.events(), [TaskEvent::Paused]);
}

#[test]
fn the_stored_offset_is_where_a_task_starts() {
    let mut rig = Rig::new(1, [Act::Emit(1)]);
    rig.start();
    rig.run_for(50);
    rig.stop();
    rig.shared().acts.push_back(Act::Emit(1));
    rig.offsets.fail_next_loads(2);
    rig.start();
    rig.run_for(2000);
    rig.stop();
    assert_eq!(rig.kafka.texts(), numbers(0, 0..2));
    assert!(rig.reports.warnings().contains("the stored offsets cannot be read"), "{}", rig.reports.warnings());
}

#[test]
fn a_source_that_gives_nothing_is_not_asked_all_the_time() {
    let mut rig = Rig::new(1, [Act::Emit(1)]);
    rig.shared().then = Some(Act::Nothing);
    rig.start();
    rig.run_for(1000);
    let n = rig.shared().n_polls;
    assert!((20..=30).contains(&n), "{n} polls in a second");
    rig.shared().acts.push_back(Act::Emit(1));
    rig.run_for(51);
    assert_eq!(rig.kafka.texts().len(), 2, "seen within the longest wait");
}

#[test]
fn nothing_is_polled_while_too_much_is_under_way() {
    for (key, limit) in [("inflight.max.records", "10"), ("inflight.max.bytes", "60")] {
        let mut rig = Rig::new(1, []);
        rig.shared().then = Some(Act::Emit(4));
        rig.shared().total = 40;
        rig.set(key, limit);
        rig.kafka.plan(|plan| plan.hold_acks = true);
        rig.start();
        rig.run_for(10_000);
        assert_eq!(rig.kafka.texts().len(), 12, "{key}");
        rig.kafka.plan(|plan| plan.hold_acks = false);
        rig.run_for(1000);
        assert_eq!(rig.kafka.texts(), numbers(0, 0..40), "{key}");
    }
}

#[test]
fn a_slow_producer_holds_back_the_poll() {
    let mut rig = Rig::new(1, []);
    rig.shared().then = Some(Act::Emit(1));
    rig.kafka.plan(|plan| {
        plan.queue_records_max = 3;
        plan.hold_acks = true;
    });
    rig.start();
    rig.run_for(10_000);
    assert_eq!((rig.kafka.texts().len(), rig.shared().n_polls), (3, 4));
    // The fourth batch was never handed over: a stop drops it, and nothing is stored for it.
    rig.kafka.plan(|plan| plan.hold_acks = false);
    rig.wishes.wish(TargetState::Stopped);
    rig.end().unwrap_stopped();
    assert_eq!(rig.stored(0), i64::try_from(rig.kafka.texts().len()).ok());
}

#[test]
fn the_offset_of_a_group_is_stored_only_when_all_of_it_is_accepted() {
    for seed in 0..60 {
        let mut rig = Rig::new(seed, []);
        rig.shared().then = Some(Act::Group(7));
        rig.shared().total = 700;
        rig.set("inflight.max.records", "40");
        rig.kafka.plan(|plan| {
            plan.out_of_order = true;
            plan.ack_delay.1 = Duration::from_secs(3);
        });
        rig.start();
        for _ in 0..20 {
            rig.run_for(700);
            let stored = rig.stored(0).unwrap_or(0);
            assert_eq!(stored % 7, 0, "seed {seed}");
        }
        assert!(rig.stored(0).is_some(), "seed {seed}");
    }
}

#[test]
fn an_advance_moves_the_offset_in_its_place_among_the_records() {
    let mut rig = Rig::new(1, [Act::Advance(10)]);
    rig.start();
    rig.run_for(1100);
    assert_eq!((rig.stored(0), rig.kafka.n_batches()), (Some(10), 0));
    rig.stop();
    rig.shared().acts.extend([Act::Emit(1), Act::Advance(5)]);
    rig.kafka.plan(|plan| plan.hold_acks = true);
    rig.start();
    rig.run_for(1500);
    assert_eq!(rig.stored(0), Some(10), "the record before it is not accepted");
    rig.kafka.plan(|plan| plan.hold_acks = false);
    rig.run_for(1500);
    assert_eq!(rig.stored(0), Some(16));
}

#[test]
fn one_stuck_topic_holds_back_only_its_source_partition() {
    let mut rig = Rig::new(1, [Act::Emit(3), Act::Say("slow", "s".to_owned()), Act::Emit(3)]);
    rig.kafka.plan(|plan| plan.stuck_topic = Some("slow".to_owned()));
    rig.start();
    rig.run_for(3000);
    assert_eq!(rig.stored(0), Some(3));
    rig.kafka.plan(|plan| plan.stuck_topic = None);
    rig.run_for(3000);
    assert_eq!(rig.stored(0), Some(7));
}

#[test]
fn callbacks_follow_the_acknowledgement() {
    let mut rig = Rig::new(1, [Act::Acked, Act::Emit(1), Act::Acked]);
    rig.kafka.plan(|plan| plan.hold_acks = true);
    rig.start();
    rig.run_for(100);
    assert!(rig.shared().acked.is_empty());
    rig.kafka.plan(|plan| plan.hold_acks = false);
    rig.run_for(100);
    rig.shared().acked.sort_unstable();
    assert_eq!(rig.shared().acked, [0, 2]);
}

#[test]
fn the_hook_is_told_what_was_stored() {
    let mut rig = Rig::new(1, [Act::Emit(2)]);
    rig.n_slots = 2;
    rig.start();
    rig.run_for(1500);
    rig.shared().acts.push_back(Act::Emit(1));
    rig.stop();
    let shared = rig.shared();
    assert_eq!(shared.told, [[(0, 2), (1, 2)]]);
    assert_eq!(shared.n_connected, 1);
}

#[test]
fn a_topic_of_skipped_records_only_is_not_made() {
    let mut rig = Rig::new(1, [Act::Say("unused", "bad".to_owned()), Act::Emit(1)]);
    rig.pass = false;
    rig.set("errors.tolerance", "all");
    rig.start();
    rig.run_for(100);
    assert_eq!(rig.kafka.ensured(), ["t"]);
}

#[test]
fn transformations_stand_between_source_and_converters() {
    use crate::{data::DataError, transform::ConnectRecord};
    struct Odd;
    impl DynTransformation for Odd {
        fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
            let text = record.value.value.as_ref().and_then(|v| v.as_str()).unwrap_or_default().to_owned();
            match text.bytes().last() {
                Some(b'3') => Err(DataError::new("no threes")),
                Some(last) if last % 2 == 0 => Ok(None),
                _ => {
                    record.topic = "odd".into();
                    Ok(Some(record))
                }
            }
        }
    }
    let mut rig = Rig::new(1, [Act::Emit(6)]);
    rig.set("errors.tolerance", "all");
    rig.chain = Some(Box::new(Odd));
    rig.start();
    rig.run_for(100);
    rig.stop();
    assert_eq!(rig.kafka.texts(), ["0:1", "0:5"]);
    let record = &rig.kafka.records()[0];
    assert_eq!((record.topic.as_str(), record.headers.len()), ("odd", 1));
    assert_eq!(rig.stored(0), Some(6), "skipped records move the offset, too");
    let skipped: BTreeMap<_, _> =
        [SkipReason::Filtered, SkipReason::Failed].map(|r| (format!("{r:?}"), rig.reports.skipped(r))).into();
    assert_eq!(skipped, BTreeMap::from([("Failed".to_owned(), 1), ("Filtered".to_owned(), 3)]));
}

impl TaskEnd {
    fn unwrap_stopped(self) {
        if let Self::Failed(error) = self {
            panic!("failed: {}", error.chain());
        }
    }
}
