//! Goal: an offset is handed out exactly when its record and all earlier ones of its slot are acknowledged.
//! Method: random batches, acknowledgements and refusals against a model that looks at every record every time.

use super::*;
use crate::{source::FieldValue, testkit::Random};
use std::sync::atomic::{AtomicU32, Ordering};

struct Column(Vec<i64>);

impl OffsetColumn for Column {
    fn encode(&self, index: u32) -> OffsetMap {
        OffsetMap::new().with("n", FieldValue::Int(self.0[index as usize]))
    }

    fn keep(&self, indices: &[u32]) -> Arc<dyn OffsetColumn> {
        Arc::new(Self(indices.iter().map(|i| self.0[*i as usize]).collect()))
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

fn number(offset: &OffsetMap) -> i64 {
    match offset.get("n") {
        Some(FieldValue::Int(n)) => *n,
        other => panic!("no number: {other:?}"),
    }
}

/// One entry as the model keeps it.
#[derive(Clone, Copy)]
struct Entry {
    slot: u32,
    offset: Option<i64>,
    seq: Option<u64>,
    acked: bool,
}

#[derive(Default)]
struct Model {
    entries: Vec<Entry>,
    next: i64,
}

impl Model {
    fn storable(&self, slot: u32) -> Option<i64> {
        let accepted = |e: &&Entry| e.seq.is_none() || e.acked;
        self.entries.iter().filter(|e| e.slot == slot).take_while(accepted).filter_map(|e| e.offset).last()
    }
}

/// A batch of random entries; the model gets the same ones.
fn batch(random: &mut Random, model: &mut Model, n_slots: usize, first_seq: u64) -> Submission {
    let (mut runs, mut offsets, mut seq) = (Runs::default(), Vec::new(), first_seq);
    let mut slot = random.below(n_slots);
    for _ in 0..random.below(90) {
        if random.chance(30) {
            slot = random.below(n_slots);
        }
        let sent = !random.chance(10);
        let with_offset = !sent || !random.chance(20);
        model.next += 1;
        let offset = with_offset.then_some(model.next);
        let index = offset.map(|n| {
            offsets.push(n);
            u32::try_from(offsets.len() - 1).unwrap()
        });
        let slot = u32::try_from(slot).unwrap();
        runs.push(slot, index, sent);
        model.entries.push(Entry { slot, offset, seq: sent.then_some(seq), acked: false });
        seq += u64::from(sent);
    }
    Submission { runs, offsets: Box::new(Column(offsets)), on_ack: Vec::new(), bytes: 10 }
}

#[test]
fn offsets_follow_the_gap_free_acknowledged_run_of_their_slot() {
    for seed in 0..400 {
        let random = &mut Random::new(seed);
        let n_slots = 1 + random.below(4);
        let mut records = SubmittedRecords::new(n_slots);
        let mut model = Model::default();
        let mut stored = vec![None; n_slots];
        let mut refused = Vec::new();
        for step in 0..60 {
            let end = records.next_seq();
            match random.below(5) {
                0 | 1 => {
                    let submission = batch(random, &mut model, n_slots, end);
                    records.submit(submission, &mut Vec::new());
                }
                2 if end > 0 && random.chance(10) => {
                    let seq = random.next_u64() % end;
                    if model.entries.iter().any(|e| e.seq == Some(seq) && !e.acked) {
                        records.failed(seq, 1);
                        refused.push(seq);
                    }
                }
                2 | 3 if end > 0 => {
                    // Mostly old records, so that batches become whole.
                    let oldest = model.entries.iter().filter(|e| !e.acked).find_map(|e| e.seq).unwrap_or(0);
                    let first = if random.chance(60) { oldest } else { random.next_u64() % end };
                    let n = u32::try_from(random.below(80)).unwrap();
                    if refused.iter().any(|r| (first..first + u64::from(n)).contains(r)) {
                        continue;
                    }
                    let newly = records.acked(first, n, &mut Vec::new()).records;
                    let mut expected = 0;
                    for e in &mut model.entries {
                        let hit = e.seq.is_some_and(|s| s >= first && s < first + u64::from(n)) && !e.acked;
                        e.acked |= hit;
                        expected += u64::from(hit);
                    }
                    assert_eq!(newly, expected, "seed {seed} step {step}");
                }
                _ => {
                    let mut taken = Vec::new();
                    records.take(&mut taken);
                    for (slot, offset) in taken {
                        let n = Some(number(&offset));
                        assert!(n > stored[slot as usize], "went back; seed {seed} step {step}");
                        stored[slot as usize] = n;
                    }
                    for (slot, stored) in stored.iter().enumerate() {
                        let expected = model.storable(u32::try_from(slot).unwrap());
                        assert_eq!(*stored, expected, "slot {slot} seed {seed} step {step}");
                    }
                }
            }
            let open = model.entries.iter().filter(|e| e.seq.is_some_and(|s| !e.acked && !refused.contains(&s)));
            assert_eq!(records.n_unresolved(), open.count() as u64, "seed {seed} step {step}");
        }
    }
}

fn plain(slot: u32, first: i64, n: u32) -> Submission {
    let mut runs = Runs::default();
    (0..n).for_each(|i| runs.push(slot, Some(i), true));
    let offsets = Box::new(Column((first..first + i64::from(n)).collect()));
    Submission { runs, offsets, on_ack: Vec::new(), bytes: 100 }
}

fn take(records: &mut SubmittedRecords) -> Vec<(u32, i64)> {
    let mut taken = Vec::new();
    records.take(&mut taken);
    taken.sort_unstable_by_key(|(slot, _)| *slot);
    taken.iter().map(|(slot, offset)| (*slot, number(offset))).collect()
}

#[test]
fn a_stuck_record_holds_back_its_own_slot_only() {
    let mut records = SubmittedRecords::new(2);
    records.submit(plain(0, 0, 10), &mut Vec::new());
    records.submit(plain(1, 100, 10), &mut Vec::new());
    records.submit(plain(0, 10, 10), &mut Vec::new());
    records.acked(10, 20, &mut Vec::new());
    assert_eq!(take(&mut records), [(1, 109)]);
    assert_eq!(take(&mut records), []);
    records.acked(0, 5, &mut Vec::new());
    assert_eq!(take(&mut records), [(0, 4)]);
    records.acked(5, 5, &mut Vec::new());
    assert_eq!(take(&mut records), [(0, 19)]);
    assert_eq!((records.n_records(), records.n_bytes(), records.n_unresolved()), (0, 0, 0));
}

#[test]
fn memory_is_bounded_by_what_is_under_way() {
    let mut records = SubmittedRecords::new(3);
    records.submit(plain(0, 0, 1), &mut Vec::new());
    for i in 0..10_000 {
        let slot = u32::try_from(1 + i % 2).unwrap();
        records.submit(plain(slot, i * 10, 10), &mut Vec::new());
        records.acked(records.next_seq() - 10, 10, &mut Vec::new());
    }
    assert_eq!(records.items.len(), 2, "the stuck batch and one summary of all others");
    assert_eq!(records.n_records(), 1);
    assert_eq!(take(&mut records), [(1, 99_989), (2, 99_999)]);
    records.acked(0, 1, &mut Vec::new());
    assert!(records.items.is_empty());
}

#[test]
fn an_advance_alone_is_storable_at_once_and_in_order() {
    let mut records = SubmittedRecords::new(1);
    let advance = |n| {
        let mut runs = Runs::default();
        runs.push(0, Some(0), false);
        Submission { runs, offsets: Box::new(Column(vec![n])), on_ack: Vec::new(), bytes: 0 }
    };
    records.submit(advance(1), &mut Vec::new());
    assert_eq!(take(&mut records), [(0, 1)]);
    records.submit(plain(0, 2, 1), &mut Vec::new());
    records.submit(advance(3), &mut Vec::new());
    assert_eq!(take(&mut records), [], "the record before it is not acknowledged");
    records.acked(0, 1, &mut Vec::new());
    assert_eq!(take(&mut records), [(0, 3)]);
}

#[test]
fn callbacks_come_once_and_with_their_record() {
    let mut records = SubmittedRecords::new(1);
    let called = Arc::new(AtomicU32::new(0));
    let bit = |i: u32| {
        let called = called.clone();
        (
            i,
            Box::new(move || {
                called.fetch_add(1 << i, Ordering::Relaxed);
            }) as OnAck,
        )
    };
    let mut runs = Runs::default();
    [true, false, true, true].into_iter().zip(0..).for_each(|(sent, i)| runs.push(0, Some(i), sent));
    let mut due = Vec::new();
    let submission =
        Submission { runs, offsets: Box::new(Column(vec![1, 2, 3, 4])), on_ack: (0..4).map(bit).collect(), bytes: 4 };
    records.submit(submission, &mut due);
    let run = |due: &mut Vec<OnAck>| {
        due.drain(..).for_each(|f| f());
        called.load(Ordering::Relaxed)
    };
    assert_eq!(run(&mut due), 0b0010, "the entry without a record");
    records.acked(1, 1, &mut due);
    assert_eq!(run(&mut due), 0b0110);
    records.acked(0, 3, &mut due);
    records.acked(0, 3, &mut due);
    assert_eq!(run(&mut due), 0b1111);
}

#[test]
fn abandoned_records_count_but_give_no_offset() {
    let mut records = SubmittedRecords::new(1);
    records.submit(plain(0, 0, 10), &mut Vec::new());
    records.acked(0, 3, &mut Vec::new());
    assert_eq!(take(&mut records), [(0, 2)]);
    records.abandon();
    records.submit(plain(0, 3, 10), &mut Vec::new());
    assert_eq!(records.n_records(), 20);
    records.acked(3, 7, &mut Vec::new());
    assert_eq!((records.n_records(), take(&mut records)), (10, vec![]));
    records.acked(10, 10, &mut Vec::new());
    assert_eq!(take(&mut records), [(0, 12)]);
}

#[test]
fn a_refused_record_is_not_awaited_and_never_passed() {
    let mut records = SubmittedRecords::new(1);
    records.submit(plain(0, 0, 4), &mut Vec::new());
    records.failed(2, 1);
    records.failed(2, 1);
    records.acked(0, 2, &mut Vec::new());
    records.acked(3, 1, &mut Vec::new());
    assert_eq!(records.n_unresolved(), 0);
    assert_eq!(take(&mut records), [(0, 1)]);
}
