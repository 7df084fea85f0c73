//! Sources in simulated worlds.

use connect_sdk::{
    prelude::*,
    source::SourceConnector,
    testkit::{Fixture, simulate_source},
};
use std::{io::SeekFrom, path::PathBuf, time::Duration};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncSeekExt, BufReader},
};

#[derive(ConnectorConfig)]
struct CountConfig {
    /// How many partitions there are.
    partitions: i32,
    /// Where each of them ends.
    end: i64,
}

#[derive(SourcePartition)]
struct Part {
    number: i32,
}

#[derive(SourceOffset)]
struct Number {
    n: i64,
}

fn next(at: &Cursor<Part, Number>) -> i64 {
    at.offset().map_or(0, |at| at.n)
}

fn numbers(partitions: i32, end: i64) -> impl Fn() -> Fixture + Copy + 'static {
    move || Fixture::new().set("partitions", partitions).set("end", end)
}

/// Counts in several partitions: single records, groups, and windows that are passed over.
struct Count {
    at: Vec<Cursor<Part, Number>>,
    end: i64,
}

/// Counts.
#[source_connector(name = "count", exactly_once = supported, replay_test = replayed)]
impl Source for Count {
    type Config = CountConfig;
    type Partition = Part;
    type Offset = Number;

    async fn partitions(cfg: &CountConfig) -> Result<Vec<Part>> {
        Ok((0..cfg.partitions).map(|number| Part { number }).collect())
    }

    async fn open(cfg: &CountConfig, at: Cursors<Part, Number>) -> Result<Self> {
        // As one that waits for its target.
        drop(tokio::time::timeout(Duration::from_millis(5), std::future::pending::<()>()).await);
        Ok(Self { at: at.into_iter().collect(), end: cfg.end })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        let mut moved = false;
        for at in &mut self.at {
            let (n, number) = (next(at), at.partition().number);
            if n >= self.end || out.is_full() {
                continue;
            }
            moved = true;
            let text = |n: i64| format!("{number}:{n}");
            match n % 10 {
                3 => out.advance(at, Number { n: n + 1 }),
                5 => {
                    let end = (n + 3).min(self.end);
                    let group: Vec<_> = (n..end).map(|n| Record::to("groups").key(number).value(text(n))).collect();
                    out.emit_group(at, group, Number { n: end });
                }
                _ => out.emit(at, Record::to("numbers").key(number).value(text(n)), Number { n: n + 1 }),
            }
            tokio::task::yield_now().await;
        }
        if !moved {
            // As a source that waits for input.
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

fn replayed() -> Fixture {
    numbers(2, 14)()
}

#[test]
fn an_honest_source_loses_nothing_in_any_world() {
    let report = simulate_source::<Count>(numbers(4, 25)).seeds(0..120).without_io().run();
    // A simulation that meets no trouble shows nothing.
    for event in
        ["a record that was sent twice", "a refused record", "a store that arrives after the death of its task"]
    {
        assert!(report.seen(event) > 0, "never met {event}: {report:?}");
    }
    assert!(report.crash_points > 100, "{report:?}");
}

#[test]
fn a_seed_is_one_order_of_events() {
    let run = |seeds| simulate_source::<Count>(numbers(3, 20)).seeds(seeds).crash_points(0).without_io().run();
    let (first, second) = (run(0..20), run(0..20));
    assert_eq!(first, second);
    assert_ne!(first.sum, run(1..21).sum);
}

#[derive(ConnectorConfig)]
struct FileConfig {
    /// The file to read.
    path: PathBuf,
}

#[derive(SourceOffset)]
struct Pos {
    position: i64,
}

/// Reads a file with tokio's files, which work on threads of their own.
struct FileLines {
    at: Cursor<Part, Pos>,
    file: BufReader<File>,
    line: String,
}

/// One record for each line.
#[source_connector(name = "file-lines", exactly_once = supported, replay_test = a_file)]
impl Source for FileLines {
    type Config = FileConfig;
    type Partition = Part;
    type Offset = Pos;

    async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
        Ok(vec![Part { number: 0 }])
    }

    async fn open(cfg: &FileConfig, at: Cursors<Part, Pos>) -> Result<Self> {
        let at = at.only()?;
        let mut file = File::open(&cfg.path).await.retriable()?;
        file.seek(SeekFrom::Start(at.offset().map_or(0, |p| p.position.unsigned_abs()))).await.fatal()?;
        Ok(Self { at, file: BufReader::new(file), line: String::new() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        while !out.is_full() && self.file.read_line(&mut self.line).await.retriable()? > 0 {
            let line = std::mem::take(&mut self.line);
            let position = self.at.offset().map_or(0, |p| p.position) + i64::try_from(line.len()).fatal()?;
            out.emit(&mut self.at, Record::to("lines").value(line.trim_end()), Pos { position });
        }
        Ok(())
    }
}

fn a_file() -> Fixture {
    let text: String = (0..30).map(|i| format!("line {i}\n")).collect();
    Fixture::new().file("path", "in.txt", text).records(30)
}

#[test]
fn a_source_that_reads_files_is_simulated_too() {
    let report = simulate_source::<FileLines>(a_file).seeds(0..20).run();
    assert!(report.crash_points > 50, "{report:?}");
}

/// A source over numbers, of which only `open` and `emit` are written out: where the faults are.
macro_rules! faulty {
    ($name:ident, $text:literal, open: |$at:ident| $open:expr, emit: |$this:ident, $out:ident, $n:ident| $emit:block) => {
        struct $name {
            at: Cursor<Part, Number>,
            next: i64,
            end: i64,
        }

        /// Broken in one place.
        #[source_connector(name = $text, exactly_once = supported(untested = "it is broken"))]
        impl Source for $name {
            type Config = CountConfig;
            type Partition = Part;
            type Offset = Number;

            async fn partitions(_: &CountConfig) -> Result<Vec<Part>> {
                Ok(vec![Part { number: 0 }])
            }

            async fn open(cfg: &CountConfig, at: Cursors<Part, Number>) -> Result<Self> {
                let $at = at.only()?;
                let next = $open;
                Ok(Self { at: $at, next, end: cfg.end })
            }

            async fn poll(&mut self, $out: &mut Batch<Self>) -> Result<()> {
                let $this = self;
                while $this.next < $this.end && !$out.is_full() {
                    let $n = $this.next;
                    $this.next += 1;
                    $emit
                }
                Ok(())
            }
        }
    };
}

#[track_caller]
fn must_find<S: SourceConnector>(texts: &[&str]) {
    match simulate_source::<S>(numbers(1, 25)).seeds(0..50).without_io().check() {
        Ok(report) => panic!("`{}` is broken, and no world showed it: {report:?}", S::META.name),
        Err(error) => {
            for text in texts.iter().chain(&["CONNECT_SIM_SEED=", "at step", "the latest steps"]) {
                assert!(error.contains(text), "found something else than `{text}`: {error}");
            }
        }
    }
}

// One event gives three records, of which already the first says that all of them are done.
faulty!(DoneTooEarly, "done-too-early",
open: |at| next(&at) / 10,
emit: |this, out, n| {
    let done = n / 3 * 3 + 3;
    out.emit(&mut this.at, Record::to("t").value(n.to_string()), Number { n: done * 10 + n % 3 });
});

#[test]
fn an_offset_that_says_too_early_that_an_event_is_done_is_found() {
    must_find::<DoneTooEarly>(&["differs"]);
}

// The stored position is the page, so that a page is read again from its first item on.
faulty!(PageOnly, "page-only",
open: |at| next(&at) / 4 * 4,
emit: |this, out, n| { out.emit(&mut this.at, Record::to("t").value(n.to_string()), Number { n: n + 1 }) });

#[test]
fn a_position_within_a_page_that_is_not_in_the_offset_is_found() {
    must_find::<PageOnly>(&["differs", "came"]);
}

// Where it goes on depends on how often it was opened, not on what is stored.
faulty!(Forgetful, "forgetful",
open: |at| if at.offset().is_some() { next(&at) + 1 } else { 0 },
emit: |this, out, n| { out.emit(&mut this.at, Record::to("t").value(n.to_string()), Number { n: n + 1 }) });

#[test]
fn a_record_that_is_passed_over_after_a_restart_is_found() {
    must_find::<Forgetful>(&["differs", "expected", "came"]);
}
