//! `marks`: a source that says itself where its transactions end. So many records of a partition are a transaction, in the
//! order of the partitions; some of them it aborts, always the same ones.

use super::numbers::{LIFE_HEADER, Next, Series, next_life, partition_number, value};
use crate::chaos::is_nth;
use connect_sdk::prelude::*;
use std::time::Duration;
use tokio::time::Instant;

/// The settings of [`Marks`].
#[derive(Debug, Clone, ConnectorConfig)]
pub struct MarksConfig {
    /// The topic.
    topic: String,
    /// How many source partitions there are: `p0`, `p1` and so on.
    #[config(default = 1, range = 1..=10_000)]
    partitions: u32,
    /// How many records each partition has.
    #[config(range = 1..)]
    limit: i64,
    /// The least size of a value in bytes.
    #[config(default = 20)]
    record_bytes: usize,
    /// How many records for each partition one poll gives at most: it may end in the middle of a transaction.
    #[config(default = 100, range = 1..)]
    poll_records: usize,
    /// From one poll to the next.
    #[config(default = Duration::ZERO)]
    pause: Duration,
    /// How many records are a transaction; what is left at the end is one, too.
    #[config(default = 1, range = 1..)]
    transaction_records: i64,
    /// How many transactions of a partition there are to one that is aborted; 0 is never.
    #[config(default = 0)]
    abort_every: u64,
    /// Whether records have the header that names the life of the task; without it two reads give the same.
    #[config(default = true)]
    life_header: bool,
}

/// The task.
#[derive(Debug)]
pub struct Marks {
    cursors: Vec<(i64, Cursor<Series, Next>)>,
    /// Whose transaction it is.
    turn: usize,
    cfg: MarksConfig,
    life: String,
    next_poll: Instant,
}

/// Emits records that can be foretold, in transactions that can be foretold.
#[source_connector(
    name = "marks",
    exactly_once = supported,
    transaction_boundaries = connector,
    replay_test = tests::a_few
)]
impl Source for Marks {
    type Config = MarksConfig;
    type Partition = Series;
    type Offset = Next;

    async fn partitions(cfg: &MarksConfig) -> Result<Vec<Series>> {
        Ok((0..cfg.partitions).map(|p| Series { name: format!("p{p}") }).collect())
    }

    async fn open(cfg: &MarksConfig, at: Cursors<Series, Next>) -> Result<Self> {
        let mut cursors = Vec::with_capacity(at.len());
        for cursor in at {
            cursors.push((partition_number(cursor.partition())?, cursor));
        }
        let life = next_life(&cursors);
        Ok(Self { cursors, turn: 0, cfg: cfg.clone(), life, next_poll: Instant::now() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        tokio::time::sleep_until(self.next_poll).await;
        self.next_poll = Instant::now() + self.cfg.pause;
        let mut n_ended = 0;
        let most = self.cfg.poll_records * self.cursors.len();
        while n_ended < self.cursors.len() && out.len() < most && !out.is_full() {
            let Some((p, at)) = self.cursors.get_mut(self.turn) else { break };
            let i = at.offset().map_or(0, |o| o.next);
            if i < self.cfg.limit {
                n_ended = 0;
                let (key, value) = (p.to_string(), value(*p, i, self.cfg.record_bytes));
                let mut record = Record::to(&self.cfg.topic).key(key.as_str()).value(value.as_str());
                if self.cfg.life_header {
                    record = record.header(LIFE_HEADER, self.life.as_str());
                }
                out.emit(at, record, Next { next: i + 1 });
                let (block, size) = (i / self.cfg.transaction_records, self.cfg.transaction_records);
                if (i + 1) % size != 0 && i + 1 < self.cfg.limit {
                    continue;
                }
                if is_nth(block, self.cfg.abort_every) {
                    out.abort_transaction();
                } else {
                    out.commit_transaction();
                }
            } else {
                n_ended += 1;
            }
            self.turn = (self.turn + 1) % self.cursors.len();
        }
        if out.is_empty() {
            // Every partition is at its end.
            return std::future::pending().await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use connect_sdk::testkit::Fixture;

    pub(super) fn a_few() -> Fixture {
        let fixture = Fixture::new().set("topic", "t").set("partitions", 2).set("limit", 10).records(20);
        fixture.set("transaction.records", 3).set("poll.records", 4).set("life.header", false)
    }
}
