//! What happens to a sink in the kit, step by step.

use super::{
    kit::{Checked, Kit},
    life::SinkLife,
};
use crate::{
    error::TaskError,
    sink::{CloseReason, SinkRecord, TopicPartition},
};

/// How many records one batch has, one scenario for each.
const BATCH_SIZES: [usize; 3] = [1, 3, 7];
/// How many puts one life gets.
const ROUNDS: u64 = 6;

pub(super) async fn run_all(kit: &mut Kit) -> Checked {
    without_records(kit).await?;
    for size in BATCH_SIZES {
        kills_and_closings(kit, size).await?;
    }
    again_after_a_kill(kit).await?;
    for n_lost in [1, 3, 20] {
        loss(kit, n_lost).await?;
    }
    if kit.bad().is_some() {
        bad_record(kit, true).await?;
        bad_record(kit, false).await?;
    }
    Ok(())
}

/// The text of a failed call.
fn failed(when: &str, call: &str) -> impl FnOnce(TaskError) -> String {
    let text = format!("{when}: `{call}` failed");
    move |error| format!("{text}: {}", error.chain())
}

async fn open(kit: &Kit, when: &str, tolerant: bool) -> Checked<SinkLife> {
    SinkLife::open(kit.connector.as_ref(), kit.properties(), tolerant).await.map_err(failed(when, "open"))
}

/// Opens a sink and gives it partitions. Where it starts by itself counts as safe.
async fn start(kit: &mut Kit, when: &str, partitions: &[TopicPartition]) -> Checked<SinkLife> {
    let mut life = open(kit, when, false).await?;
    let from: Vec<_> = partitions.iter().map(|p| (p.clone(), kit.committed(p))).collect();
    let wanted = life.assign(&from).await.map_err(failed(when, "assigned"))?;
    kit.is_safe(&format!("{when}: start offsets"), &wanted).await?;
    Ok(life)
}

/// Puts the next records of each partition, `size` of each. Returns how many.
async fn put(kit: &Kit, life: &mut SinkLife, when: &str, size: usize) -> Checked<usize> {
    let mut records: Vec<SinkRecord> = Vec::new();
    for partition in life.partitions() {
        records.extend(kit.records(life, &partition, size));
    }
    let n = records.len();
    life.put(&mut records).await.map_err(failed(&format!("{when}: a batch of {n} good records"), "put"))?;
    Ok(n)
}

async fn commit(kit: &mut Kit, life: &mut SinkLife, when: &str) -> Checked {
    let safe = life.pre_commit().await.map_err(failed(when, "pre_commit(Running)"))?;
    kit.is_safe(&format!("{when}, `pre_commit(Running)`"), &safe).await
}

/// The last commit of partitions; what was not called safe then must not be written any more.
async fn close(
    kit: &mut Kit,
    life: &mut SinkLife,
    when: &str,
    partitions: &[TopicPartition],
    why: CloseReason,
) -> Checked<Unwritten> {
    let call = format!("pre_commit(Closing), {why:?}");
    let safe = life.pre_commit_closing(partitions, why).await.map_err(failed(when, &call))?;
    kit.is_safe(&format!("{when}, `{call}`"), &safe).await?;
    let unwritten = Unwritten::of(kit, partitions, "had been closed and were to be delivered again").await;
    life.closed(partitions, why).await.map_err(failed(when, "closed"))?;
    Ok(unwritten)
}

/// Records that somebody else will write.
struct Unwritten {
    texts: Vec<String>,
    why: &'static str,
}

impl Unwritten {
    async fn of(kit: &Kit, partitions: &[TopicPartition], why: &'static str) -> Self {
        let target = kit.target().await;
        let texts = partitions.iter().flat_map(|p| kit.missing(p, kit.committed(p), &target)).collect();
        Self { texts, why }
    }

    /// They are still not written.
    async fn check(&self, kit: &Kit, when: &str) -> Checked {
        let target = kit.target().await;
        match self.texts.iter().find(|text| target.iter().any(|entry| entry.contains(*text))) {
            None => Ok(()),
            Some(text) => Err(format!("{when}: record `{text}` was written although its partitions {}", self.why)),
        }
    }
}

async fn stop(kit: &mut Kit, mut life: SinkLife, when: &str) -> Checked {
    let partitions = life.partitions();
    let unwritten = close(kit, &mut life, when, &partitions, CloseReason::Stopping).await?;
    life.close().await.map_err(failed(when, "close"))?;
    unwritten.check(kit, when).await
}

/// A sink that never gets a record.
async fn without_records(kit: &mut Kit) -> Checked {
    let when = "without any record";
    let mut life = open(kit, when, false).await?;
    life.put(&mut Vec::new()).await.map_err(failed("with no partition yet and an empty batch", "put"))?;
    let partitions = kit.new_topics("kit-empty", 1);
    life.assign(&[(partitions[0].clone(), 0)]).await.map_err(failed(when, "assigned"))?;
    life.put(&mut Vec::new()).await.map_err(failed("with an empty batch", "put"))?;
    commit(kit, &mut life, when).await?;
    stop(kit, life, when).await
}

/// Puts, commits, a kill, a revocation, a stop; then everything must have been written by somebody.
async fn kills_and_closings(kit: &mut Kit, size: usize) -> Checked {
    let partitions = kit.new_topics(&format!("kit-{size}"), 2);
    let per_life = ROUNDS * size as u64;
    for partition in &partitions {
        kit.append(partition, per_life * 4);
    }
    let when = format!("first life, batches of {size} per partition");
    let mut life = start(kit, &when, &partitions).await?;
    for round in 1..=ROUNDS {
        let at = format!("{when}, after put {round}");
        put(kit, &mut life, &at, size).await?;
        commit(kit, &mut life, &at).await?;
    }
    // A kill: nothing is asked any more. What was called safe must have been in the target before.
    drop(life);

    let when = format!("second life, after a kill, batches of {size}");
    let mut life = start(kit, &when, &partitions).await?;
    for round in 1..=ROUNDS {
        let at = format!("{when}, after put {round}");
        put(kit, &mut life, &at, size).await?;
        commit(kit, &mut life, &at).await?;
    }
    put(kit, &mut life, &when, size).await?;
    let unwritten = close(kit, &mut life, &when, &partitions[1..], CloseReason::Revoked).await?;
    let kept = format!("{when}, after the revocation of `{}`", partitions[1]);
    for _ in 0..2 {
        put(kit, &mut life, &kept, size).await?;
        commit(kit, &mut life, &kept).await?;
        unwritten.check(kit, &kept).await?;
    }
    stop(kit, life, &kept).await?;
    unwritten.check(kit, &kept).await?;

    finish(kit, &partitions, size).await
}

/// Lives that end in peace, until everything is safe, or nothing more: a sink may leave its last records to whoever
/// comes after it, but it must have called some safe.
async fn finish(kit: &mut Kit, partitions: &[TopicPartition], size: usize) -> Checked {
    let mut before = -1;
    loop {
        let reached = partitions.iter().map(|p| kit.committed(p)).sum::<i64>();
        if partitions.iter().all(|p| kit.committed(p) >= kit.end(p)) || (reached == before && reached > 0) {
            return Ok(());
        }
        if reached == before {
            return Err(format!(
                "a whole life that read {} records and was stopped in peace called nothing safe, neither in \
                 `pre_commit(Running)` nor in `pre_commit(Closing)`",
                partitions.iter().map(|p| kit.end(p)).sum::<i64>()
            ));
        }
        before = reached;
        let when = "a life that reads to the end";
        let mut life = start(kit, when, partitions).await?;
        while put(kit, &mut life, when, size).await? > 0 {
            commit(kit, &mut life, when).await?;
        }
        stop(kit, life, when).await?;
    }
}

/// A kill between put and commit: the same records come again, and must be taken.
async fn again_after_a_kill(kit: &mut Kit) -> Checked {
    let partitions = kit.new_topics("kit-again", 1);
    kit.append(&partitions[0], 10);
    for when in ["before a kill that forgets the commit", "after a kill, with records that were put before"] {
        let mut life = start(kit, when, &partitions).await?;
        put(kit, &mut life, when, 10).await?;
        drop(life);
    }
    finish(kit, &partitions, 10).await
}

/// A partition is lost of which the sink has got `n_lost` records just now: they belong to another task.
async fn loss(kit: &mut Kit, n_lost: usize) -> Checked {
    let partitions = kit.new_topics(&format!("kit-loss-of-{n_lost}"), 3);
    for partition in &partitions {
        kit.append(partition, 30);
    }
    let when = "before a loss";
    let mut life = start(kit, when, &partitions).await?;
    put(kit, &mut life, when, 2).await?;
    commit(kit, &mut life, when).await?;
    let lost = &partitions[..1];
    let mut records = kit.records(&life, &lost[0], n_lost);
    life.put(&mut records).await.map_err(failed(when, "put"))?;
    drop(records);
    life.closed(lost, CloseReason::Lost).await.map_err(|error| error.chain())?;
    let unwritten = Unwritten::of(kit, lost, "had been lost").await;
    let when = "after a loss";
    for _ in 0..2 {
        put(kit, &mut life, when, 3).await?;
        life.put(&mut Vec::new()).await.map_err(failed(when, "put"))?;
        commit(kit, &mut life, when).await?;
        unwritten.check(kit, when).await?;
    }
    // It comes back, and its records come again.
    let from = kit.committed(&partitions[0]);
    let wanted = life.assign(&[(partitions[0].clone(), from)]).await.map_err(failed(when, "assigned"))?;
    kit.is_safe("start offsets after a loss", &wanted).await?;
    put(kit, &mut life, "after a lost partition came back", 12).await?;
    commit(kit, &mut life, "after a lost partition came back").await?;
    stop(kit, life, "after a lost partition came back").await?;
    finish(kit, &partitions, 5).await
}

/// One bad record among good ones.
async fn bad_record(kit: &mut Kit, tolerant: bool) -> Checked {
    let Some(bad) = kit.bad() else { return Ok(()) };
    let partition = kit.new_topics(if tolerant { "kit-bad" } else { "kit-bad-strict" }, 1).remove(0);
    kit.append(&partition, 5);
    let when = "with one bad record among four good ones";
    let mut life = open(kit, when, tolerant).await?;
    life.assign(&[(partition.clone(), 0)]).await.map_err(failed(when, "assigned"))?;
    let mut records = kit.records(&life, &partition, 5);
    if let (Some(tag), Some(place)) = (life.offsets.tag(&partition), records.get_mut(2)) {
        *place = kit.record(tag, 2, bad);
    }
    let result = life.put(&mut records).await;
    drop(records);
    if !tolerant {
        return match result {
            Err(error) if !error.is_retriable() => Ok(()),
            Err(error) => Err(format!(
                "{when} and `errors.tolerance=none`: `put` asks for the batch again, so it never ends: {}",
                error.chain()
            )),
            Ok(_) => Err(format!(
                "{when} and `errors.tolerance=none`: `put` returns Ok; pass the error of `cx.reject(..)` on with `?`"
            )),
        };
    }
    let asked = result.map_err(|error| {
        format!(
            "{when} and `errors.tolerance=all`: `put` fails instead of calling `cx.reject(&record, why)?`: {}",
            error.chain()
        )
    })?;
    let rejected: Vec<_> = asked.rejected.iter().map(|r| r.position.offset()).collect();
    if rejected != [2] {
        return Err(format!("{when}: record 2 is the bad one, but the sink rejected {rejected:?}"));
    }
    let safe = life.pre_commit_closing(std::slice::from_ref(&partition), CloseReason::Stopping).await;
    let safe = safe.map_err(failed(when, "pre_commit(Closing)"))?;
    let target = kit.target().await;
    let written = safe.of(&partition.topic, partition.partition).unwrap_or(0);
    for (offset, number) in kit.log.get(&partition).into_iter().flatten().enumerate() {
        let text = kit.value(*number).1;
        let n = target.iter().filter(|entry| entry.contains(&text)).count();
        let should = i64::try_from(offset).is_ok_and(|offset| offset < written && offset != 2);
        if n > 1 || (should && n == 0) {
            return Err(format!("{when}: the good record {offset} (`{text}`) is {n} times in the target"));
        }
    }
    drop(life);
    Ok(())
}
