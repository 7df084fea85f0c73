//! The verdicts: pure functions over what was seen.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::Fate;

/// A record of the source `numbers` as a reader of committed records saw it, in the order of its topic's partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The topic's partition.
    pub kafka_partition: i32,
    /// The source partition.
    pub series: i64,
    /// The record's number in it.
    pub number: i64,
    /// The process that sent it.
    pub process: u32,
    /// Which of the process's tasks and their lives, counted from 0.
    pub life: u32,
}

/// Where a process was to go on, by source partition, if that is known: what was stored when it was started.
pub type Stored = BTreeMap<i64, i64>;

/// One life of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// The process.
    pub process: u32,
    /// What was stored when it was started; none if somebody else was at work then.
    pub stored: Option<Stored>,
    /// The stored offsets may have moved since they were read: a request of the life before was still on its way.
    pub may_be_later: bool,
}

/// How many more records of a source partition than expected are named in an error.
const NAMED_MAX: usize = 5;

/// Every record that belongs here once, in order within its source partition, and no other one.
///
/// # Errors
/// What is missing, doubled, out of order or elsewhere at home.
pub fn exactly_once(seen: &[Seen], partitions: i64, records: i64, belongs: impl Fn(i64) -> bool) -> Result<(), String> {
    let next_from = |from: i64| (from..records).find(|number| belongs(*number)).unwrap_or(records);
    let mut next: BTreeMap<i64, i64> = (0..partitions).map(|p| (p, next_from(0))).collect();
    let mut faults = Vec::new();
    for record in seen {
        let Some(expected) = next.get_mut(&record.series) else {
            return Err(format!("{record:?} is of no partition of the source"));
        };
        if record.number != *expected {
            faults.push(format!("partition {}: {} where {expected} should be", record.series, record.number));
        }
        *expected = next_from(record.number + 1);
    }
    for (p, end) in next {
        if end != records {
            faults.push(format!("partition {p} ends before {end} and not {records}"));
        }
    }
    verdict(faults)
}

/// Records and offsets of transactions are seen together or not at all: of those that belong here, all that are before the
/// stored offsets are seen, and no other one.
///
/// # Errors
/// What is seen and not stored, or stored and not seen.
pub fn atomic(seen: &[Seen], stored: &Stored, belongs: impl Fn(i64) -> bool) -> Result<(), String> {
    let mut numbers: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for record in seen {
        numbers.entry(record.series).or_default().insert(record.number);
    }
    let mut faults = Vec::new();
    for (p, numbers) in &numbers {
        let offset = stored.get(p).copied().unwrap_or(0);
        faults.extend(
            numbers
                .range(offset..)
                .map(|number| format!("partition {p}: {number} is seen, and the stored offset is {offset}")),
        );
    }
    for (p, offset) in stored {
        let seen = |number: &i64| numbers.get(p).is_some_and(|numbers| numbers.contains(number));
        faults.extend(
            (0..*offset)
                .filter(|number| belongs(*number) && !seen(number))
                .map(|number| format!("partition {p}: {number} is not seen, and the stored offset is {offset}")),
        );
    }
    verdict(faults)
}

/// Every stored offset is at the end of a transaction of so many records.
///
/// # Errors
/// Which one is not.
pub fn at_boundaries(stored: &Stored, block: i64, records: i64) -> Result<(), String> {
    let between = stored.iter().filter(|(_, offset)| **offset != records && **offset % block != 0);
    verdict(between.map(|(p, offset)| format!("partition {p}: {offset} is within a transaction of {block}")).collect())
}

/// The counts that a worker gives when its tasks end are those of what became of the records. `log` says where its tasks
/// began; `stored` is where they ended. A task that was opened again may have counted records twice.
///
/// # Errors
/// Which count is wrong.
pub fn counted(log: &str, stored: &Stored, fate: impl Fn(i64) -> Fate) -> Result<(), String> {
    let mut begins: BTreeMap<i64, i64> = BTreeMap::new();
    let mut again = false;
    for line in log.lines().filter(|line| line.contains("numbers opened")) {
        let pairs = line.split_once("from=[").and_then(|(_, rest)| rest.split_once(']')).map_or("", |(pairs, _)| pairs);
        let numbers: Vec<i64> =
            pairs.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
        for pair in numbers.chunks_exact(2) {
            let first = begins.entry(pair[0]).or_insert(pair[1]);
            again |= *first != pair[1];
            *first = (*first).min(pair[1]);
        }
    }
    let sum = |key: &str| -> i64 {
        let ended = log.lines().filter(|line| line.contains("task ended"));
        let counts =
            ended.filter_map(|line| line.split_once(&format!(" {key}="))?.1.split(' ').next()?.parse::<i64>().ok());
        counts.sum()
    };
    let mut faults = Vec::new();
    for (key, which) in [("filtered", Fate::Dropped), ("dead_letters", Fate::Letter)] {
        let of = |(p, begin): (&i64, &i64)| {
            let end = stored.get(p).copied().unwrap_or(0);
            (*begin..end).filter(|number| fate(*number) == which).count()
        };
        let expected = i64::try_from(begins.iter().map(of).sum::<usize>()).unwrap_or(i64::MAX);
        let found = sum(key);
        if found < expected || (found > expected && !again) {
            faults.push(format!("`{key}` is {found} and not {expected}; the tasks began at {begins:?}"));
        }
    }
    verdict(faults)
}

/// No record of a target that keeps the offsets is there twice, and none is left out before another one.
///
/// # Errors
/// Which ones.
pub fn written_once(written: &BTreeMap<(i32, i64), Vec<String>>) -> Result<(), String> {
    let mut faults = Vec::new();
    let mut ends: BTreeMap<i32, i64> = BTreeMap::new();
    for ((series, offset), values) in written {
        let end = ends.entry(*series).or_insert(0);
        if *offset != *end {
            faults.push(format!("series {series}: {offset} is written where {end} should be"));
        }
        *end = offset + 1;
        if values.len() != 1 {
            faults.push(format!("series {series}: {offset} is written {} times", values.len()));
        }
    }
    verdict(faults)
}

/// Every record, in order within each life of a task, and nothing again that was stored already when its process began.
///
/// # Errors
/// What is missing, out of order, or doubled without need.
pub fn at_least_once(seen: &[Seen], lives: &[Life], partitions: i64, records: i64) -> Result<(), String> {
    let mut faults = missing(seen, partitions, records);
    // By process, partition and life: the first record, and the one after the last.
    let mut runs: BTreeMap<(u32, i64, u32), (i64, i64)> = BTreeMap::new();
    for record in seen {
        let Seen { process, series, life, number, .. } = *record;
        let (_, next) = runs.entry((process, series, life)).or_insert((number, number));
        if number != *next {
            faults.push(format!("process {process}, life {life}, partition {series}: {number} where {next} should be"));
        }
        *next = number + 1;
    }
    let mut before: BTreeMap<(u32, i64), i64> = BTreeMap::new();
    for ((process, series, _), (first, next)) in runs {
        let Some(life) = lives.iter().find(|life| life.process == process) else {
            faults.push(format!("process {process} was never started"));
            continue;
        };
        let stored = life.stored.as_ref().map(|stored| stored.get(&series).copied().unwrap_or(0));
        let fits = match (before.get(&(process, series)), stored) {
            // A task that was opened again may send again what was not acknowledged, but leaves out nothing.
            (Some(end), stored) => first <= *end && first >= stored.unwrap_or(0),
            (None, Some(stored)) => first == stored || (first > stored && life.may_be_later),
            (None, None) => true,
        };
        if !fits {
            let end = before.get(&(process, series));
            faults.push(format!(
                "process {process}, partition {series}: began with {first}, stored was {stored:?}, sent before {end:?}"
            ));
        }
        let end = before.entry((process, series)).or_insert(next);
        *end = (*end).max(next);
    }
    verdict(faults)
}

/// No offset is stored beyond the records that came without a gap.
///
/// # Errors
/// Which offset of which partition.
pub fn stored_is_seen(seen: &[Seen], stored: &Stored) -> Result<(), String> {
    let mut numbers: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for record in seen {
        numbers.entry(record.series).or_default().push(record.number);
    }
    let faults = stored.iter().filter_map(|(p, offset)| {
        let mut of_p = numbers.remove(p).unwrap_or_default();
        of_p.sort_unstable();
        of_p.dedup();
        let whole = of_p.iter().zip(0..).take_while(|(number, i)| *number == i).count();
        let whole = i64::try_from(whole).unwrap_or(i64::MAX);
        (whole < *offset)
            .then(|| format!("partition {p}: offset {offset} is stored, but the records end before {whole}"))
    });
    verdict(faults.collect())
}

/// How many records came more than once.
pub fn doubled(seen: &[Seen]) -> usize {
    let mut all: Vec<_> = seen.iter().map(|record| (record.series, record.number)).collect();
    let n = all.len();
    all.sort_unstable();
    all.dedup();
    n - all.len()
}

fn missing(seen: &[Seen], partitions: i64, records: i64) -> Vec<String> {
    let mut left: BTreeMap<i64, Vec<bool>> =
        (0..partitions).map(|p| (p, vec![false; usize::try_from(records).unwrap_or(0)])).collect();
    for record in seen {
        let at = usize::try_from(record.number).ok();
        if let Some(flag) = left.get_mut(&record.series).and_then(|flags| flags.get_mut(at?)) {
            *flag = true;
        }
    }
    let faults = left.into_iter().filter_map(|(p, flags)| {
        let absent: Vec<usize> = flags.iter().enumerate().filter(|(_, seen)| !**seen).map(|(i, _)| i).collect();
        let some = &absent[..absent.len().min(NAMED_MAX)];
        (!absent.is_empty()).then(|| format!("partition {p}: {} records are missing: {some:?} ..", absent.len()))
    });
    faults.collect()
}

/// What a sink has written, by partition and offset, and what its group has committed.
///
/// # Errors
/// A record that was committed and is not written, or is not what was sent.
pub fn committed_is_written(
    written: &BTreeMap<(i32, i64), Vec<String>>,
    committed: &BTreeMap<i32, i64>,
    value: impl Fn(i32, i64) -> String,
) -> Result<(), String> {
    let mut faults = Vec::new();
    for (partition, end) in committed {
        let absent: Vec<i64> = (0..*end).filter(|i| !written.contains_key(&(*partition, *i))).collect();
        if !absent.is_empty() {
            let some = &absent[..absent.len().min(NAMED_MAX)];
            faults.push(format!(
                "partition {partition}: {end} is committed, {} records are not written: {some:?} ..",
                absent.len()
            ));
        }
    }
    for ((partition, offset), values) in written {
        let expected = value(*partition, *offset);
        if let Some(other) = values.iter().find(|other| **other != expected) {
            faults.push(format!("partition {partition}, offset {offset}: `{other}` is written for `{expected}`"));
        }
    }
    verdict(faults)
}

fn verdict(mut faults: Vec<String>) -> Result<(), String> {
    if faults.is_empty() {
        return Ok(());
    }
    let n = faults.len();
    faults.truncate(NAMED_MAX);
    Err(format!("{n} faults: {}", faults.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(process: u32, life: u32, number: i64) -> Seen {
        Seen { kafka_partition: 0, series: 0, number, process, life }
    }

    fn seen(numbers: &[(u32, i64)]) -> Vec<Seen> {
        numbers.iter().map(|(process, number)| record(*process, 0, *number)).collect()
    }

    fn life(process: u32, stored: i64, may_be_later: bool) -> Life {
        Life { process, stored: Some(Stored::from([(0, stored)])), may_be_later }
    }

    #[test]
    fn exactly_once_refuses_what_is_lost_doubled_or_moved() {
        let all = |_| true;
        assert_eq!(exactly_once(&seen(&[(1, 0), (1, 1), (2, 2)]), 1, 3, all), Ok(()));
        for wrong in
            [&[(1, 0), (1, 2)][..], &[(1, 0), (1, 1)], &[(1, 0), (1, 1), (2, 1), (2, 2)], &[(1, 1), (1, 0), (1, 2)]]
        {
            exactly_once(&seen(wrong), 1, 3, all).unwrap_err();
        }
        exactly_once(&seen(&[(1, 0)]), 2, 1, all).unwrap_err();
        let even = |number| number % 2 == 0;
        assert_eq!(exactly_once(&seen(&[(1, 0), (1, 2)]), 1, 4, even), Ok(()));
        for wrong in [&[(1, 0)][..], &[(1, 0), (1, 1), (1, 2)], &[(1, 0), (1, 2), (1, 3)], &[(1, 0), (1, 2), (2, 2)]] {
            exactly_once(&seen(wrong), 1, 4, even).unwrap_err();
        }
    }

    #[test]
    fn records_and_offsets_are_seen_together() {
        let (even, stored) = (|number| number % 2 == 0, |offset| Stored::from([(0, offset)]));
        let two = seen(&[(1, 0), (1, 2)]);
        for (offset, good) in [(2, false), (3, true), (4, true), (5, false)] {
            assert_eq!(atomic(&two, &stored(offset), even).is_ok(), good, "{offset}");
        }
        atomic(&two, &Stored::new(), even).unwrap_err();
        for (offset, good) in [(0, true), (3, true), (4, false), (10, true)] {
            assert_eq!(at_boundaries(&stored(offset), 3, 10).is_ok(), good, "{offset}");
        }
    }

    #[test]
    fn counts_are_those_of_the_records() {
        let fate = |number| if number % 2 == 0 { Fate::Dropped } else { Fate::Letter };
        let log = |filtered, letters| {
            format!(
                "numbers opened life=\"1-0\" from=[(0, 2)]\nnumbers opened life=\"1-1\" from=[(1, 0)]\n\
                 task ended task=0 filtered={filtered} failed=1 dead_letters={letters} retries=0\n\
                 task ended task=1 filtered=1 failed=1 dead_letters=1 retries=0\n"
            )
        };
        let stored = Stored::from([(0, 5), (1, 2)]);
        assert_eq!(counted(&log(2, 1), &stored, fate), Ok(()));
        for (filtered, letters) in [(1, 1), (3, 1), (2, 0), (2, 2)] {
            counted(&log(filtered, letters), &stored, fate).unwrap_err();
        }
        let again = format!("numbers opened from=[(0, 3)]\n{}", log(3, 1));
        assert_eq!(counted(&again, &stored, fate), Ok(()));
    }

    #[test]
    fn a_target_that_keeps_offsets_has_each_record_once() {
        let written = |offsets: &[i64]| {
            let mut all: BTreeMap<_, Vec<String>> = BTreeMap::new();
            offsets.iter().for_each(|offset| all.entry((0, *offset)).or_default().push(String::new()));
            all
        };
        assert_eq!(written_once(&written(&[0, 1])), Ok(()));
        written_once(&written(&[0, 2])).unwrap_err();
        written_once(&written(&[0, 1, 1])).unwrap_err();
    }

    #[test]
    fn at_least_once_allows_what_was_not_stored_and_no_more() {
        let lives = [life(1, 0, false), life(2, 2, false)];
        let good = [(1, 0), (1, 1), (1, 2), (2, 2), (2, 3)];
        assert_eq!(at_least_once(&seen(&good), &lives, 1, 4), Ok(()));
        assert_eq!(doubled(&seen(&good)), 1);
        // A record is missing; a life began before what was stored, behind it, or went back by itself.
        at_least_once(&seen(&[(1, 0), (1, 1), (2, 3)]), &lives, 1, 4).unwrap_err();
        at_least_once(&seen(&[(1, 0), (1, 1), (2, 1), (2, 2), (2, 3)]), &lives, 1, 4).unwrap_err();
        at_least_once(&seen(&[(1, 0), (1, 1), (1, 2), (2, 3)]), &lives, 1, 4).unwrap_err();
        at_least_once(&seen(&[(1, 0), (1, 1), (1, 0), (1, 1), (2, 2), (2, 3)]), &lives, 1, 4).unwrap_err();
        let lives = [life(1, 0, false), life(2, 2, true)];
        assert_eq!(at_least_once(&seen(&[(1, 0), (1, 1), (1, 2), (2, 3)]), &lives, 1, 4), Ok(()));
    }

    #[test]
    fn a_task_that_is_opened_again_may_repeat_and_leaves_out_nothing() {
        let lives = [life(1, 2, false)];
        let again = |first| [record(1, 0, 2), record(1, 0, 3), record(1, 3, first), record(1, 3, first + 1)];
        let judge = |first| at_least_once(&again(first), &lives, 1, 0);
        assert_eq!((judge(3), judge(2), judge(4)), (Ok(()), Ok(()), Ok(())));
        judge(5).unwrap_err();
        judge(1).unwrap_err();
    }

    #[test]
    fn an_offset_is_not_stored_before_its_records() {
        let stored = |offset| Stored::from([(0, offset)]);
        assert_eq!(stored_is_seen(&seen(&[(1, 0), (1, 1)]), &stored(2)), Ok(()));
        stored_is_seen(&seen(&[(1, 0), (1, 1)]), &stored(3)).unwrap_err();
        stored_is_seen(&seen(&[(1, 0), (1, 2)]), &stored(2)).unwrap_err();
    }

    #[test]
    fn a_commit_is_not_made_before_the_writing() {
        let value = |p: i32, i: i64| format!("{p} {i}");
        let written = |text: &str| BTreeMap::from([((0, 0), vec!["0 0".to_owned()]), ((0, 1), vec![text.to_owned()])]);
        assert_eq!(committed_is_written(&written("0 1"), &BTreeMap::from([(0, 2)]), value), Ok(()));
        committed_is_written(&written("0 1"), &BTreeMap::from([(0, 3)]), value).unwrap_err();
        committed_is_written(&written("0 2"), &BTreeMap::from([(0, 2)]), value).unwrap_err();
    }
}
