//! Sources that end their own transactions.

use super::*;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Where a transaction ends, and how: behind every third line; the ones that end at a multiple of six are aborted.
fn end(line: i64) -> Option<bool> {
    (line % 3 == 0).then_some(line % 6 != 0)
}

/// Ends transactions by the lines' numbers.
struct ByLine {
    at: Cursor<Part, Line>,
    lines: Vec<String>,
}

/// Transactions of three lines.
#[source_connector(
    name = "by-line",
    exactly_once = supported,
    replay_test = some_lines,
    transaction_boundaries = connector
)]
impl Source for ByLine {
    type Config = FileConfig;
    type Partition = Part;
    type Offset = Line;

    async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
        Ok(vec![Part { number: 0 }])
    }

    async fn open(cfg: &FileConfig, at: Cursors<Part, Line>) -> Result<Self> {
        Ok(Self { at: at.only()?, lines: lines(&cfg.path) })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        while let Some(line) = at(&self.lines, next(&self.at)).filter(|_| !out.is_full()) {
            let line_after = next(&self.at) + 1;
            out.emit(&mut self.at, Record::to("lines").value(line), Line { line: line_after });
            match end(line_after) {
                Some(true) => out.commit_transaction(),
                Some(false) => out.abort_transaction(),
                None => {}
            }
        }
        Ok(())
    }
}

static N_EMITTED: AtomicI64 = AtomicI64::new(0);

/// Ends transactions by a count that survives the task.
struct ByCount {
    at: Cursor<Part, Line>,
    lines: Vec<String>,
}

/// A cheat.
#[source_connector(
    name = "by-count",
    exactly_once = supported(untested = "the kit is called by hand"),
    transaction_boundaries = connector
)]
impl Source for ByCount {
    type Config = FileConfig;
    type Partition = Part;
    type Offset = Line;

    async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
        Ok(vec![Part { number: 0 }])
    }

    async fn open(cfg: &FileConfig, at: Cursors<Part, Line>) -> Result<Self> {
        Ok(Self { at: at.only()?, lines: lines(&cfg.path) })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        while let Some(line) = at(&self.lines, next(&self.at)).filter(|_| !out.is_full()) {
            let line_after = next(&self.at) + 1;
            out.emit(&mut self.at, Record::to("lines").value(line), Line { line: line_after });
            if end(N_EMITTED.fetch_add(1, Relaxed)).is_some() {
                out.commit_transaction();
            }
        }
        Ok(())
    }
}

#[test]
fn transactions_that_end_elsewhere_after_a_restart_are_caught() {
    must_catch::<ByCount>(some_lines, &["which aborts the open transaction", "then the transaction's end (Commit)"]);
}

/// Says that it ends transactions, and does not.
struct Never {
    at: Cursor<Part, Line>,
}

/// A cheat.
#[source_connector(
    name = "never",
    exactly_once = supported(untested = "the kit is called by hand"),
    transaction_boundaries = connector
)]
impl Source for Never {
    type Config = FileConfig;
    type Partition = Part;
    type Offset = Line;

    async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
        Ok(vec![Part { number: 0 }])
    }

    async fn open(_: &FileConfig, at: Cursors<Part, Line>) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        let n = next(&self.at);
        if n < 5 {
            out.emit(&mut self.at, Record::to("lines").value(n), Line { line: n + 1 });
        }
        Ok(())
    }
}

#[test]
fn a_source_that_ends_no_transaction_is_told_so() {
    must_catch::<Never>(some_lines, &["ends none on the fixture's input"]);
}
