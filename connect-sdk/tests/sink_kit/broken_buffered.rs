//! Buffered sinks that are broken in one place.

use crate::{
    honest::{TargetConfig, is_of},
    must_catch,
    target::Target,
};
use connect_sdk::prelude::*;

type Rows = Vec<(Position, String)>;

fn rows(records: &[SinkRecord]) -> Rows {
    records.iter().map(|r| (r.position(), r.value_text().into_owned())).collect()
}

fn write_all(target: &Target, held: &mut Rows) {
    held.drain(..).for_each(|(_, row)| target.write(row));
}

fn positions(held: &Rows) -> impl Iterator<Item = &Position> {
    held.iter().map(|(position, _)| position)
}

/// Writes a buffered sink that keeps rows; what differs are `put`, the two answers, and `closed`.
macro_rules! buffered {
    (
        $(#[$doc:meta])* $name:literal $type:ident
        put |$p:ident, $records:ident| $put:block
        running |$r:ident, $running:ident| $answer:block
        closing |$c:ident, $closing:ident| $last:block
        closed |$d:ident, $partitions:ident, $why:ident| $after:block
    ) => {
        struct $type { target: Target, held: Rows }

        $(#[$doc])*
        #[sink_connector(name = $name)]
        impl BufferedSink for $type {
            type Config = TargetConfig;

            async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
                Ok(Self { target: cfg.open(), held: vec![] })
            }
            async fn put(&mut self, $records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
                let $p = self;
                $put
                Ok(())
            }
            async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
                match at {
                    PreCommit::Running($running) => { let $r = self; $answer }
                    PreCommit::Closing($closing) => { let $c = self; $last }
                }
            }
            async fn closed(&mut self, $partitions: &[TopicPartition], $why: CloseReason) -> Result<()> {
                let $d = self;
                $after
                Ok(())
            }
        }
    };
}

/// The honest parts.
macro_rules! keep {
    ($this:ident, $records:ident) => {{
        $this.held.extend(rows(&$records));
        if $this.held.len() >= 5 {
            write_all(&$this.target, &mut $this.held);
        }
    }};
}
macro_rules! except {
    ($this:ident, $at:ident) => {{ Ok($at.except(positions(&$this.held))) }};
}
macro_rules! write_and_all {
    ($this:ident, $at:ident) => {{
        write_all(&$this.target, &mut $this.held);
        Ok($at.all_written())
    }};
}
macro_rules! forget {
    ($this:ident, $partitions:ident) => {{ $this.held.retain(|(at, _)| !is_of(at.topic(), at.partition(), $partitions)) }};
}

buffered! {
    /// Says what Kafka offered while rows wait (clickhouse-sink-connector 1299).
    "all-while-waiting" AllWhileWaiting
    put |this, records| { keep!(this, records) }
    running |_this, at| { Ok(at.all()) }
    closing |this, at| { write_and_all!(this, at) }
    closed |this, partitions, _why| { forget!(this, partitions) }
}

buffered! {
    /// Forgets a row that it could not write when a later one succeeds (vector 24215).
    "no-contiguous-mark" NoContiguousMark
    put |this, records| {
        this.held.extend(rows(&records));
        let target = this.target.clone();
        // Rows with an odd number are written first; they take the mark along.
        if this.held.iter().any(|(at, _)| at.offset() % 2 == 1) {
            this.held.drain(..).filter(|(at, _)| at.offset() % 2 == 1).for_each(|(_, row)| target.write(row));
        }
    }
    running |this, at| { except!(this, at) }
    closing |this, at| { write_and_all!(this, at) }
    closed |this, partitions, _why| { forget!(this, partitions) }
}

buffered! {
    /// A timer writes between the last commit and `closed` (kafka-sink-azure-kusto 69).
    "writes-after-closing" WritesAfterClosing
    put |this, records| { keep!(this, records) }
    running |this, at| { except!(this, at) }
    closing |this, at| { Ok(at.redeliver(positions(&this.held))) }
    closed |this, _partitions, why| {
        if why == CloseReason::Lost { this.held.clear(); }
        write_all(&this.target, &mut this.held);
    }
}

buffered! {
    /// Does not know that this commit is the last, and throws its buffer away (KAFKA-6725).
    "throws-away" ThrowsAway
    put |this, records| { keep!(this, records) }
    running |this, at| { except!(this, at) }
    closing |this, at| { this.held.clear(); Ok(at.all_written()) }
    closed |this, partitions, _why| { forget!(this, partitions) }
}

buffered! {
    /// Comes back to the first row of all, which takes the mark back (iceberg 17340).
    "goes-back" GoesBack
    put |this, records| {
        write_all(&this.target, &mut rows(&records));
        this.held.extend(rows(&records));
    }
    running |this, at| {
        let first = this.held.iter().take(usize::from(this.held.len() > 6)).map(|(at, _)| at);
        Ok(at.except(first))
    }
    closing |this, at| { this.held.clear(); Ok(at.all_written()) }
    closed |this, partitions, _why| { forget!(this, partitions) }
}

buffered! {
    /// Does not care about a loss.
    "ignores-loss" IgnoresLoss
    put |this, records| { keep!(this, records) }
    running |this, at| { except!(this, at) }
    closing |this, at| { write_and_all!(this, at) }
    closed |_this, _partitions, _why| {}
}

buffered! {
    /// Cannot close.
    "err-on-closing" ErrOnClosing
    put |this, records| { keep!(this, records) }
    running |this, at| { except!(this, at) }
    closing |_this, _at| { Err(TaskError::retriable("not now")) }
    closed |this, partitions, _why| { forget!(this, partitions) }
}

buffered! {
    /// Never says that anything is safe (kafka-connect-splunk 196).
    "never-safe" NeverSafe
    put |this, records| {
        write_all(&this.target, &mut rows(&records));
        this.held.extend(rows(&records));
    }
    running |_this, at| { Ok(at.none()) }
    closing |this, at| { Ok(at.redeliver(positions(&this.held))) }
    closed |this, partitions, _why| { forget!(this, partitions) }
}

struct HoldsRecords {
    target: Target,
    held: Vec<SinkRecord>,
    on_loss: bool,
}

/// Says `all()` and holds the records.
#[sink_connector(name = "holds-records")]
impl BufferedSink for HoldsRecords {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), held: vec![], on_loss: false })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        records.iter().for_each(|r| self.target.write(r.value_text()));
        self.held.extend(records);
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(at) if self.on_loss => at.except(&self.held),
            PreCommit::Running(at) => at.all(),
            PreCommit::Closing(at) => at.all_written(),
        })
    }
}

struct KeepsLostRecords(HoldsRecords);

/// Keeps the records of lost partitions.
#[sink_connector(name = "keeps-lost-records")]
impl BufferedSink for KeepsLostRecords {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, cx: &OpenCx) -> Result<Self> {
        let mut inner = HoldsRecords::open(cfg, cx).await?;
        inner.on_loss = true;
        Ok(Self(inner))
    }
    async fn put(&mut self, records: Vec<SinkRecord>, cx: &mut PutCx) -> Result<()> {
        self.0.put(records, cx).await
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        if let PreCommit::Closing(closing) = at {
            let partitions: Vec<_> = closing.partitions().cloned().collect();
            self.0.held.retain(|r| !is_of(r.topic(), r.partition(), &partitions));
            return Ok(closing.all_written());
        }
        self.0.pre_commit(at).await
    }
}

/// Says `all()`, and writes when it is dropped, which a kill does not do.
struct WritesOnDrop {
    target: Target,
    held: Vec<String>,
}

impl Drop for WritesOnDrop {
    fn drop(&mut self) {
        self.held.drain(..).for_each(|row| self.target.write(row));
    }
}

/// A buffered writer below it keeps the last rows.
#[sink_connector(name = "writes-on-drop")]
impl BufferedSink for WritesOnDrop {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), held: vec![] })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        self.held.extend(records.iter().map(|r| r.value_text().into_owned()));
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(at) => at.all(),
            PreCommit::Closing(at) => at.all_written(),
        })
    }
}

#[test]
fn answers_that_go_too_far_are_caught() {
    must_catch::<AllWhileWaiting>("is not in the target");
    must_catch::<NoContiguousMark>("is not in the target");
    must_catch::<ThrowsAway>("is not in the target");
    must_catch::<WritesOnDrop>("is not in the target");
    must_catch::<HoldsRecords>("`pre_commit` answers `all()`, but the sink still holds 1 records");
}

#[test]
fn answers_that_go_back_or_nowhere_are_caught() {
    must_catch::<GoesBack>("it went back");
    must_catch::<NeverSafe>("called nothing safe");
}

#[test]
fn mistakes_at_the_end_of_an_assignment_are_caught() {
    must_catch::<WritesAfterClosing>("was written although its partitions had been closed");
    must_catch::<IgnoresLoss>("was written although its partitions had been lost");
    must_catch::<KeepsLostRecords>("the sink still holds");
    must_catch::<ErrOnClosing>("failed: not now");
}
