//! `numbers`: a source whose record `i` of partition `p` is always the same, so that a reader knows what is missing, what
//! is doubled and what is out of order.

use crate::chaos::is_nth;
use connect_sdk::prelude::*;
use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tokio::time::Instant;

/// The header that names the life of the task that sent a record, as `process-life`: records of one life are contiguous.
pub const LIFE_HEADER: &str = "life";

/// The header of records that a test's transformation is to drop.
pub const DROP_HEADER: &str = "drop";
/// The header of records that a test's transformation cannot take.
pub const REFUSE_HEADER: &str = "refuse";

/// The settings of [`Numbers`].
#[derive(Debug, Clone, ConnectorConfig)]
pub struct NumbersConfig {
    /// The topic.
    topic: String,
    /// How many source partitions there are: `p0`, `p1` and so on.
    #[config(default = 1, range = 1..=10_000)]
    partitions: u32,
    /// How many records each partition has; 0 is no end.
    #[config(default = 0)]
    limit: u32,
    /// The least size of a value in bytes.
    #[config(default = 20)]
    record_bytes: usize,
    /// How many records of each partition one poll gives at most.
    #[config(default = 100, range = 1..)]
    poll_records: u32,
    /// From one poll to the next.
    #[config(default = Duration::ZERO)]
    pause: Duration,
    /// With more than 1, every other so many records of a partition are emitted as a group.
    #[config(default = 1, range = 1..)]
    group_records: u32,
    /// What the errors are drawn from.
    #[config(default = 0)]
    seed: i64,
    /// How many polls there are to one that emits records and then fails, to be tried again; 0 is never.
    #[config(default = 0)]
    fail_every_polls: u32,
    /// Every so-manieth record of a partition has the header [`DROP_HEADER`]; 0 is none.
    #[config(default = 0)]
    drop_every: u64,
    /// Every so-manieth record of a partition has the header [`REFUSE_HEADER`]; 0 is none.
    #[config(default = 0)]
    refuse_every: u64,
    /// Whether records have the header that names the life of the task; without it two reads give the same.
    #[config(default = true)]
    life_header: bool,
}

/// What is read in order.
#[derive(Debug, Clone, PartialEq, Eq, SourcePartition)]
pub struct Series {
    /// `p` and the partition's number.
    pub name: String,
}

/// Where a partition goes on.
#[derive(Debug, Clone, PartialEq, Eq, SourceOffset)]
pub struct Next {
    /// The number of the next record.
    pub next: i64,
}

/// The task.
#[derive(Debug)]
pub struct Numbers {
    cursors: Vec<(i64, Cursor<Series, Next>)>,
    cfg: NumbersConfig,
    life: String,
    next_poll: Instant,
    text: String,
}

/// Counts lives and polls of the whole process, so that a task that was opened again fails at other polls.
static LIVES: AtomicU64 = AtomicU64::new(0);
static POLLS: AtomicU64 = AtomicU64::new(0);

/// The value of record `i` of partition `p`: `p i ` and then filling up to at least `bytes`.
pub fn value(p: i64, i: i64, bytes: usize) -> String {
    let mut text = String::new();
    write_value(&mut text, p, i, bytes);
    text
}

/// Partition and number in a value of [`value`]; none if it is not one.
pub fn parse(text: &str) -> Option<(i64, i64)> {
    let mut words = text.split(' ');
    let (p, i) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (value(p, i, text.len()) == text).then_some((p, i))
}

fn write_value(text: &mut String, p: i64, i: i64, bytes: usize) {
    text.clear();
    write!(text, "{p} {i} ").expect("a String takes all that is written to it");
    let mut state = p.wrapping_mul(31).wrapping_add(i).unsigned_abs();
    while text.len() < bytes {
        state = mix(state);
        text.push(char::from(b'a' + u8::try_from(state % 26).unwrap_or(0)));
    }
}

/// The number of a partition.
///
/// # Errors
/// Its name is not `p` and a number.
pub(super) fn partition_number(partition: &Series) -> Result<i64> {
    let number = partition.name.strip_prefix('p').and_then(|p| p.parse().ok());
    number.ok_or("a partition is not named `p` and a number").fatal()
}

/// Names another life of a task, and says in the log where it begins.
pub(super) fn next_life(cursors: &[(i64, Cursor<Series, Next>)]) -> String {
    let life = format!("{}-{}", std::process::id(), LIVES.fetch_add(1, Ordering::Relaxed));
    let from: Vec<_> = cursors.iter().map(|(p, at)| (*p, at.offset().map_or(0, |o| o.next))).collect();
    tracing::info!(life, ?from, "numbers opened");
    life
}

/// A step of SplitMix64: equal everywhere and for ever.
pub(crate) fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Emits records that can be foretold.
#[source_connector(name = "numbers", exactly_once = supported, replay_test = tests::a_few_with_groups)]
impl Source for Numbers {
    type Config = NumbersConfig;
    type Partition = Series;
    type Offset = Next;

    async fn partitions(cfg: &NumbersConfig) -> Result<Vec<Series>> {
        Ok((0..cfg.partitions).map(|p| Series { name: format!("p{p}") }).collect())
    }

    async fn open(cfg: &NumbersConfig, at: Cursors<Series, Next>) -> Result<Self> {
        let mut cursors = Vec::with_capacity(at.len());
        for cursor in at {
            cursors.push((partition_number(cursor.partition())?, cursor));
        }
        let life = next_life(&cursors);
        Ok(Self { cursors, cfg: cfg.clone(), life, next_poll: Instant::now(), text: String::new() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        tokio::time::sleep_until(self.next_poll).await;
        self.next_poll = Instant::now() + self.cfg.pause;
        for (p, at) in &mut self.cursors {
            let mut left = self.cfg.poll_records;
            while left > 0 && !out.is_full() {
                let emitted = emit(*p, at, out, &self.cfg, &self.life, &mut self.text);
                if emitted == 0 {
                    break;
                }
                left = left.saturating_sub(emitted);
            }
        }
        if out.is_empty() {
            // Every partition is at its end.
            return std::future::pending().await;
        }
        let poll = POLLS.fetch_add(1, Ordering::Relaxed);
        let every = u64::from(self.cfg.fail_every_polls);
        if every > 0 && mix(self.cfg.seed.cast_unsigned() ^ mix(poll)).is_multiple_of(every) {
            return Err(TaskError::retriable_after("an error as configured", Duration::from_millis(1)));
        }
        Ok(())
    }
}

/// Emits the next record of a partition, or the next group; answers how many records that were.
fn emit(
    p: i64,
    at: &mut Cursor<Series, Next>,
    out: &mut Batch<Numbers>,
    cfg: &NumbersConfig,
    life: &str,
    text: &mut String,
) -> u32 {
    let i = at.offset().map_or(0, |o| o.next);
    let end = if cfg.limit == 0 { i64::MAX } else { i64::from(cfg.limit) };
    let size = i64::from(cfg.group_records);
    let n = if size > 1 && i % size == 0 && (i / size) % 2 == 1 { size } else { 1 }.min(end - i);
    let key = p.to_string();
    if n <= 0 {
        return 0;
    }
    if n == 1 {
        write_value(text, p, i, cfg.record_bytes);
        let record = Record::to(&cfg.topic).key(key.as_str()).value(text.as_str());
        out.emit(at, marked(record, i, cfg, life), Next { next: i + 1 });
    } else {
        let record = |i| Record::to(&cfg.topic).key(key.as_str()).value(value(p, i, cfg.record_bytes));
        let records = (i..i + n).map(|i| marked(record(i), i, cfg, life));
        out.emit_group(at, records, Next { next: i + n });
    }
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn marked<'a>(mut record: Record<'a>, i: i64, cfg: &NumbersConfig, life: &'a str) -> Record<'a> {
    if cfg.life_header {
        record = record.header(LIFE_HEADER, life);
    }
    for (header, every) in [(DROP_HEADER, cfg.drop_every), (REFUSE_HEADER, cfg.refuse_every)] {
        if is_nth(i, every) {
            record = record.header(header, "");
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::testkit::Fixture;

    pub(super) fn a_few_with_groups() -> Fixture {
        let fixture = Fixture::new().set("topic", "t").set("partitions", 2).set("limit", 10).records(20);
        fixture.set("group.records", 3).set("poll.records", 4).set("life.header", false)
    }

    #[test]
    fn a_value_tells_its_place_and_a_damaged_one_none() {
        for (p, i, bytes) in [(0, 0, 0), (3, 17, 20), (12, 1_000_000, 300)] {
            let text = value(p, i, bytes);
            assert!(text.len() >= bytes);
            assert_eq!(parse(&text), Some((p, i)), "{text}");
        }
        let text = value(3, 17, 20);
        for damaged in ["", "3", &text[..text.len() - 1].to_uppercase(), &text.replacen('3', "4", 1)] {
            assert_eq!(parse(damaged), None, "{damaged}");
        }
    }
}
