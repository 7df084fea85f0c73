//! Goal: the three rules of `SinkOffsets` hold under any order of events. Method: a naive model beside it.

use super::*;
use crate::sink::{SinkRecord, SinkRecordParts};
use proptest::prelude::*;

fn partitions() -> [Arc<TopicPartition>; 3] {
    [0, 1, 2].map(|n| Arc::new(TopicPartition::new("t", n)))
}

fn record(tag: &Arc<PartitionTag>, offset: i64) -> SinkRecord {
    SinkRecord::from_parts(Arc::clone(tag), SinkRecordParts { offset, ..SinkRecordParts::default() })
}

#[test]
fn nothing_above_the_delivered_position_is_accepted() {
    let [a, b, _] = partitions();
    let mut offsets = SinkOffsets::new();
    offsets.assign(&a, 5);
    offsets.delivered(&a, 8);
    assert_eq!(offsets.offered(), [(Arc::clone(&a), 8)]);
    assert_eq!(offsets.accept(vec![(Arc::clone(&a), 9)]), []);
    assert_eq!(offsets.accept(vec![(Arc::clone(&a), 8), (Arc::clone(&b), 1)]), [(Arc::clone(&a), 8)]);
    assert_eq!(offsets.accept(vec![(Arc::clone(&a), 5)]), [], "unchanged: no commit");
    assert_eq!(offsets.accept(vec![(Arc::clone(&a), 4)]), [], "below where the assignment began");
    assert_eq!(offsets.accept(vec![]), [], "opted out");
}

#[test]
fn a_record_that_is_held_again_takes_the_commit_back_but_none_of_an_earlier_assignment_does() {
    let [a, _, _] = partitions();
    let mut offsets = SinkOffsets::new();
    offsets.assign(&a, 5);
    offsets.delivered(&a, 10);
    let number = offsets.begin(&vec![(Arc::clone(&a), 10)]);
    assert!(offsets.ended(number, true));
    assert_eq!(offsets.accept(vec![(Arc::clone(&a), 3)]), []);
    let back = offsets.accept(vec![(Arc::clone(&a), 7)]);
    assert_eq!(back, [(Arc::clone(&a), 7)]);
    let number = offsets.begin(&back);
    assert!(offsets.ended(number, true));
    assert_eq!(offsets.accept(vec![(Arc::clone(&a), 7)]), [], "unchanged: no commit");
    offsets.rewind();
    assert_eq!(offsets.position(&a), Some(7), "what is held again would be delivered again");
    offsets.delivered(&a, 8);
    assert_eq!(offsets.accept(offsets.offered()), [(Arc::clone(&a), 8)]);
}

#[test]
fn the_result_of_a_commit_does_not_reach_a_later_assignment() {
    let [a, _, _] = partitions();
    let mut offsets = SinkOffsets::new();
    offsets.assign(&a, 0);
    offsets.delivered(&a, 10);
    let number = offsets.begin(&vec![(Arc::clone(&a), 10)]);
    offsets.forget(&[Arc::clone(&a)]);
    offsets.assign(&a, 3);
    assert!(offsets.ended(number, true));
    offsets.delivered(&a, 4);
    assert_eq!(offsets.accept(offsets.offered()), [(Arc::clone(&a), 4)]);
    assert!(!offsets.ended(number, true), "a result comes once");
}

#[test]
fn a_late_result_of_a_commit_that_was_given_up_changes_nothing() {
    let [a, _, _] = partitions();
    let mut offsets = SinkOffsets::new();
    offsets.assign(&a, 0);
    offsets.delivered(&a, 10);
    let first = offsets.begin(&vec![(Arc::clone(&a), 10)]);
    offsets.give_up_commit();
    let second = offsets.begin(&offsets.accept(offsets.offered()));
    assert!(!offsets.ended(first, true));
    assert!(offsets.is_committing());
    assert!(offsets.ended(second, true));
    assert!(!offsets.is_committing());
}

#[test]
fn after_a_rewind_no_commit_goes_below_what_the_group_may_have() {
    let [a, _, _] = partitions();
    let mut offsets = SinkOffsets::new();
    offsets.assign(&a, 0);
    offsets.delivered(&a, 10);
    offsets.begin(&vec![(Arc::clone(&a), 10)]);
    offsets.give_up_commit();
    offsets.rewind();
    assert_eq!(offsets.position(&a), Some(0));
    offsets.delivered(&a, 7);
    assert_eq!(offsets.accept(offsets.offered()), []);
    offsets.delivered(&a, 10);
    assert_eq!(offsets.accept(offsets.offered()), [(a, 10)]);
}

#[test]
fn records_that_the_sink_holds_are_counted_and_lent_ones_are_not() {
    let [a, b, _] = partitions();
    let mut offsets = SinkOffsets::new();
    offsets.assign(&a, 0);
    offsets.assign(&b, 0);
    let tag = Arc::clone(offsets.tag(&a).unwrap());
    let held = [record(&tag, 0), record(&tag, 1), record(&tag, 2)];
    drop(tag);
    let asked = offsets.offered();
    let violation = offsets.still_held(&asked, |_| 1).unwrap();
    assert_eq!((violation.partition, violation.records), (Arc::clone(&a), 2));
    assert_eq!(offsets.still_held(&asked, |_| 3), None);
    assert_eq!(offsets.still_held(&vec![(b, 0)], |_| 0), None);
    offsets.rewind();
    assert_eq!(offsets.still_held(&asked, |_| 0), None, "records of an earlier life do not count");
    drop(held);
}

#[derive(Debug, Clone)]
enum Op {
    Assign(usize, i64),
    StartAt(usize, i64),
    Forget(usize),
    Deliver(usize, i64),
    Rewind,
    Commit(Vec<(usize, i64)>),
    End(u64, bool),
    GiveUp,
}

fn op() -> impl Strategy<Value = Op> {
    let (p, o) = (|| 0..3usize, || 0..30i64);
    prop_oneof![
        2 => (p(), o()).prop_map(|(p, o)| Op::Assign(p, o)),
        1 => (p(), o()).prop_map(|(p, o)| Op::StartAt(p, o)),
        1 => p().prop_map(Op::Forget),
        5 => (p(), 0..6i64).prop_map(|(p, o)| Op::Deliver(p, o)),
        1 => Just(Op::Rewind),
        5 => proptest::collection::vec((p(), o()), 0..4).prop_map(Op::Commit),
        4 => (0..3u64, any::<bool>()).prop_map(|(back, ok)| Op::End(back, ok)),
        1 => Just(Op::GiveUp),
    ]
}

/// The model: one entry for each partition, everything spelt out.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Naive {
    life: usize,
    start: i64,
    delivered: i64,
    committed: i64,
    told: i64,
}

proptest! {
    #[test]
    fn the_rules_hold_in_any_order(ops in proptest::collection::vec(op(), 1..60)) {
        let names = partitions();
        let mut real = SinkOffsets::new();
        let mut model: [Option<Naive>; 3] = [None; 3];
        // All commits ever sent, by number from 1; and the one that is awaited.
        let mut sent: Vec<Vec<(usize, usize, i64)>> = vec![];
        let mut awaited: Option<usize> = None;
        for (step, op) in ops.into_iter().enumerate() {
            match op {
                Op::Assign(p, o) => {
                    real.assign(&names[p], o);
                    model[p] = Some(Naive { life: step, start: o, delivered: o, committed: o, told: o });
                }
                Op::StartAt(p, o) => {
                    real.start_at(&names[p], o);
                    if let Some(m) = &mut model[p] {
                        (m.start, m.delivered, m.committed) = (o, o, o);
                    }
                }
                Op::Forget(p) => {
                    real.forget(&[Arc::clone(&names[p])]);
                    model[p] = None;
                }
                Op::Deliver(p, more) => {
                    let to = model[p].map_or(more, |m| m.delivered + more);
                    real.delivered(&names[p], to);
                    if let Some(m) = &mut model[p] {
                        m.delivered = to;
                    }
                }
                Op::Rewind => {
                    real.rewind();
                    for m in model.iter_mut().flatten() {
                        m.delivered = m.committed;
                    }
                }
                Op::Commit(safe) => {
                    let accepted = real.accept(safe.iter().map(|(p, o)| (Arc::clone(&names[*p]), *o)).collect());
                    let mut expected = vec![];
                    for (p, o) in safe {
                        let on = |m: &Naive| o > m.committed && o >= m.told && o <= m.delivered;
                        let back = |m: &Naive| o < m.committed && o >= m.start;
                        if let Some(m) = model[p].filter(|m| on(m) || back(m)) {
                            expected.push((p, m.life, o));
                        }
                    }
                    let plain: Vec<_> = expected.iter().map(|(p, _, o)| (Arc::clone(&names[*p]), *o)).collect();
                    prop_assert_eq!(&accepted, &plain);
                    if awaited.is_none() && !accepted.is_empty() {
                        for (p, _, o) in &expected {
                            let m = model[*p].as_mut().unwrap();
                            m.told = if *o < m.committed { *o } else { m.told.max(*o) };
                        }
                        sent.push(expected);
                        awaited = Some(sent.len());
                        prop_assert_eq!(real.begin(&accepted), sent.len() as u64);
                    }
                }
                Op::End(back, ok) => {
                    let number = (sent.len() as u64).saturating_sub(back);
                    let is_awaited = awaited.is_some_and(|n| n as u64 == number);
                    prop_assert_eq!(real.ended(number, ok), is_awaited);
                    if is_awaited {
                        awaited = None;
                        for (p, life, o) in sent[usize::try_from(number).unwrap() - 1].iter().filter(|_| ok) {
                            if let Some(m) = model[*p].as_mut().filter(|m| m.life == *life) {
                                m.committed = *o;
                            }
                        }
                    }
                }
                Op::GiveUp => {
                    real.give_up_commit();
                    awaited = None;
                }
            }
            for (p, m) in model.iter().enumerate() {
                prop_assert_eq!(real.position(&names[p]), m.map(|m| m.delivered));
                prop_assert_eq!(real.owns(&names[p]), m.is_some());
            }
            prop_assert_eq!(real.is_committing(), awaited.is_some());
        }
    }
}
