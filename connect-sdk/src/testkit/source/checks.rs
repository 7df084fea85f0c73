//! The single checks of the replay kit: each disturbs a source in one way.

use super::{
    fixture::Fixture,
    life::{Checked, Emitted, Lived, Positions, Subject, Until},
    replay::{Accepted, KILL_POINTS_MAX, Kit, first_run},
};
use crate::{
    source::{BatchLimits, Mark},
    task::OpenCx,
    testkit::Random,
};

/// Batch sizes that a task may have.
const BATCH_SIZES: [usize; 3] = [1, 7, 500];
/// How many lives of one record each are tried in a row.
const STUTTER_LIVES_MAX: usize = 400;

fn limits(records: usize) -> BatchLimits {
    BatchLimits { records, ..BatchLimits::default() }
}

/// A second task that starts at the beginning gives the same as the first.
pub(super) async fn the_same_again(kit: &mut Kit, fixture: &impl Fn() -> Fixture) -> Checked {
    let n = kit.n_records();
    let when = "a second task, started at the beginning";
    let start = kit.start();
    let again = kit.live(&start, limits(500), Until::Records(n)).await.map_err(|text| format!("{when}, {text}"));
    let differs = match again {
        Ok(lived) => kit.compare(&lived.emitted, &vec![0; kit.n_slots()], when),
        Err(text) => Err(text),
    };
    let Err(text) = differs else { return Ok(()) };
    // What survives new input in a new place is in the process; what does not lies beside the input.
    let mut elsewhere = fixture();
    elsewhere.feed_all();
    let lived = match first_run(kit.subject.connector.clone(), &elsewhere).await {
        Ok((_, lived)) => lived.n_records(),
        Err(_) => 0,
    };
    let place = if lived == n {
        "something beside the input, such as a file of its own"
    } else {
        "the process, such as a static, or the input is not the same each time"
    };
    Err(format!("{text}; it seems to keep its position in {place}. Only the cursors may say where it starts"))
}

/// The output does not depend on where batches end.
pub(super) async fn batch_sizes(kit: &mut Kit) -> Checked {
    let n = kit.n_records();
    for size in BATCH_SIZES {
        let when = format!("with batches of {size}");
        let start = kit.start();
        let lived =
            kit.live(&start, limits(size), Until::Records(n)).await.map_err(|text| format!("{when} it {text}"))?;
        kit.compare(&lived.emitted, &vec![0; kit.n_slots()], &when)?;
    }
    Ok(())
}

/// Life after life, each killed behind its first offset: the lives together give the whole.
pub(super) async fn stutter(kit: &mut Kit) -> Checked {
    let n = kit.n_records();
    let mut emitted: Vec<Emitted> = Vec::new();
    let mut at = kit.start();
    for life in 1..=STUTTER_LIVES_MAX {
        let n_before = emitted.iter().filter(|e| e.record.is_some()).count();
        if n_before >= n || kit.is_late() {
            break;
        }
        let when =
            format!("life {life} of lives that are killed behind their first record, started at {}", kit.shown(&at));
        let lived = kit.live(&at, limits(1), Until::Entries(1)).await.map_err(|text| format!("{when}: it {text}"))?;
        if lived.fell_short.is_some() {
            emitted.extend(lived.emitted);
            return kit.compare(&emitted, &vec![0; kit.n_slots()], &when);
        }
        // What comes behind the first offset is under way when the task dies.
        let Some(end) = lived.emitted.iter().position(|e| e.offset.is_some()) else {
            return Err(format!("{when}: a poll ended in the middle of a group"));
        };
        let kept = &lived.emitted[..=end];
        at = Accepted::after(kept, at).positions;
        emitted.extend_from_slice(kept);
        // The first difference is in the newest life: compare what there is.
        compare_prefix(kit, &emitted, &when)?;
    }
    Ok(())
}

/// As `Kit::compare`, for a run that has not come to the end.
fn compare_prefix(kit: &Kit, emitted: &[Emitted], when: &str) -> Checked {
    let mut whole = emitted.to_vec();
    let mut n_seen = vec![0; kit.n_slots()];
    emitted.iter().filter(|e| e.record.is_some()).for_each(|e| n_seen[e.slot] += 1);
    for entry in kit.baseline.iter().filter(|e| e.record.is_some()) {
        if n_seen[entry.slot] > 0 {
            n_seen[entry.slot] -= 1;
        } else {
            whole.push(entry.clone());
        }
    }
    kit.compare(&whole, &vec![0; kit.n_slots()], when)
}

/// A task is killed behind the k-th entry, while it was already further; a new one goes on behind it.
pub(super) async fn kill_behind_each_record(kit: &mut Kit) -> Checked {
    for k in Kit::points(kit.baseline.len(), KILL_POINTS_MAX) {
        if kit.is_late() {
            break;
        }
        let start = kit.start();
        let when = format!("killed behind record {k}");
        let first = kit.live(&start, limits(k + 3), Until::Entries(k)).await.and_then(Lived::complete);
        first.map_err(|text| format!("{when}: the first task {text}"))?;
        let at = kit.accepted_after(k);
        kit.resume_and_compare(&at, &when).await?;
    }
    Ok(())
}

/// The partitions of a task are accepted up to different places.
pub(super) async fn partitions_fall_behind(kit: &mut Kit) -> Checked {
    const ROUNDS: u64 = 20;
    if kit.n_slots() < 2 {
        return Ok(());
    }
    for seed in 0..ROUNDS {
        let random = &mut Random::new(seed);
        let mut at = kit.accepted_after(0);
        for slot in 0..kit.n_slots() {
            let other = kit.accepted_after(random.below(kit.baseline.len() + 1));
            at = at.with_slot(slot, &other);
        }
        kit.resume_and_compare(&at, "partitions accepted up to different places").await?;
    }
    Ok(())
}

/// Everything is dropped at the j-th wait of the source, in the middle of `open` or `poll`.
pub(super) async fn drop_at_each_wait(kit: &mut Kit) -> Checked {
    let n = kit.n_records();
    for n_waits in 0..KILL_POINTS_MAX {
        if kit.is_late() {
            break;
        }
        let when = format!("dropped at its wait number {}", n_waits + 1);
        let start = kit.start();
        kit.n_lives += 1;
        let lived = kit.subject.live_with_waits(&start, limits(3), Until::Records(n), n_waits).await;
        let lived = lived.map_err(|text| format!("{when}: the first task {text}"))?;
        if !lived.was_dropped {
            break;
        }
        let at = Accepted::after(&lived.emitted, start);
        kit.resume_and_compare(&at, &when).await?;
    }
    Ok(())
}

/// The commit hook is told of each life's offsets never, once or twice: the source does not notice.
pub(super) async fn hooks(kit: &mut Kit) -> Checked {
    const LIVES: usize = 6;
    if !kit.subject.connector.meta().has_hook {
        return Ok(());
    }
    let n = kit.n_records();
    for (times, word) in [(0, "never"), (1, "always"), (2, "twice")] {
        let mut at = kit.start();
        let mut emitted: Vec<Emitted> = Vec::new();
        for life in 1..=LIVES {
            let n_before = emitted.iter().filter(|e| e.record.is_some()).count();
            let when = format!("life {life}, with a commit hook that is {word} told what was stored");
            let last = life == LIVES;
            let (size, until) =
                if last { (500, Until::Records(n - n_before)) } else { (n.div_ceil(LIVES), Until::Entries(1)) };
            if n_before >= n {
                break;
            }
            let lived = kit.live(&at, limits(size), until).await.and_then(Lived::complete);
            let lived = lived.map_err(|text| format!("{when}: it {text}"))?;
            let end = lived.emitted.iter().rposition(|e| e.offset.is_some()).map_or(0, |i| i + 1);
            at = Accepted::after(&lived.emitted[..end], at).positions;
            emitted.extend_from_slice(&lived.emitted[..end]);
            compare_prefix(kit, &emitted, &when)?;
            for _ in 0..times {
                tell_hook(kit, &at).await.map_err(|text| format!("{when}: {text}"))?;
            }
        }
    }
    Ok(())
}

async fn tell_hook(kit: &Kit, at: &Positions) -> Checked {
    let cx = OpenCx::new(Subject::task());
    let Some(connecting) = kit.subject.connector.connect_hook(kit.subject.properties.clone(), cx) else {
        return Ok(());
    };
    let mut hook = connecting.await.map_err(|error| format!("the commit hook cannot connect: {}", error.chain()))?;
    let stored = kit.subject.partitions.iter().cloned().zip(at.clone());
    let stored = stored.filter_map(|(partition, offset)| Some((partition, offset?))).collect();
    hook.committed(stored).await.map_err(|error| format!("the commit hook failed: {}", error.chain()))
}

/// A transaction that the source has not ended is aborted, and its records come again; one that the source has aborted
/// is over, and its records do not.
pub(super) async fn transactions(kit: &mut Kit) -> Checked {
    if !kit.subject.connector.meta().defines_transactions {
        return Ok(());
    }
    let ends: Vec<usize> = (1..).zip(&kit.baseline).filter(|(_, e)| e.mark != Mark::None).map(|(i, _)| i).collect();
    if ends.is_empty() {
        return Err("it says that it defines transactions, but ends none on the fixture's input".to_owned());
    }
    kit.compares_marks = true;
    for k in Kit::points(kit.baseline.len(), KILL_POINTS_MAX) {
        if kit.is_late() {
            break;
        }
        let end = ends.iter().copied().filter(|end| *end <= k).max().unwrap_or(0);
        let at = kit.accepted_after(end);
        kit.resume_and_compare(&at, &format!("killed behind record {k}, which aborts the open transaction")).await?;
    }
    kit.compares_marks = false;
    Ok(())
}

/// The input grows while no task runs.
pub(super) async fn input_that_grows(kit: &mut Kit, mut fixture: Fixture) -> Checked {
    if fixture.feeds.is_empty() {
        return Ok(());
    }
    let connector = kit.subject.connector.clone();
    fixture.n_records = None;
    let feeds = std::mem::take(&mut fixture.feeds);
    let (subject, mut lived) = first_run(connector.clone(), &fixture).await?;
    let mut at = vec![None; subject.partitions.len()];
    let mut together = Vec::new();
    for (n, feed) in (1..).zip(feeds) {
        at = Accepted::after(&lived.emitted, at).positions;
        together.append(&mut lived.emitted);
        feed();
        kit.n_lives += 1;
        lived = subject
            .live(&at, BatchLimits::default(), Until::Quiet)
            .await
            .map_err(|text| format!("after feed {n} the new task {text}"))?;
    }
    together.append(&mut lived.emitted);
    // The same source on the same input, which has all its parts now.
    let (subject, whole) = first_run(connector, &fixture).await?;
    kit.subject = subject;
    kit.baseline = whole.emitted;
    kit.compare(&together, &vec![0; kit.n_slots()], "with input that was added between its lives")
}
