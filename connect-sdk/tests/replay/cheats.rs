//! Sources that compile and break their promise; the kit must catch each of them.

use super::*;
use std::sync::{
    Mutex,
    atomic::{AtomicI64, Ordering::Relaxed},
};

/// A source over the lines of a file, of which only `start` and `emit` are written out: where the cheats are.
macro_rules! source {
    ($name:ident, $text:literal, start: |$cfg:ident, $at:ident| $start:expr, emit: |$this:ident, $out:ident, $n:ident, $line:ident| $emit:block) => {
        source!($name, $text, hook: , start: |$cfg, $at| $start, emit: |$this, $out, $n, $line| $emit);
    };
    ($name:ident, $text:literal, hook: $($hook:ident)?, start: |$cfg:ident, $at:ident| $start:expr, emit: |$this:ident, $out:ident, $n:ident, $line:ident| $emit:block) => {
        #[allow(dead_code, reason = "not every cheat needs the path")]
        struct $name {
            at: Cursor<Part, Line>,
            lines: Vec<String>,
            path: PathBuf,
            next: i64,
        }

        /// A cheat.
        #[source_connector(name = $text, exactly_once = supported(untested = "the kit is called by hand") $(, on_commit = $hook)?)]
        impl Source for $name {
            type Config = FileConfig;
            type Partition = Part;
            type Offset = Line;

            async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
                Ok(vec![Part { number: 0 }])
            }

            async fn open($cfg: &FileConfig, at: Cursors<Part, Line>) -> Result<Self> {
                let $at = at.only()?;
                let next = $start;
                Ok(Self { at: $at, lines: lines(&$cfg.path), path: $cfg.path.clone(), next })
            }

            async fn poll(&mut self, $out: &mut Batch<Self>) -> Result<()> {
                let $this = self;
                while !$out.is_full() {
                    let $n = $this.next;
                    let Some($line) = at(&$this.lines, $n).map(str::to_owned) else { break };
                    $this.next += 1;
                    $emit
                }
                Ok(())
            }
        }
    };
}

fn record(line: &str) -> Record<'_> {
    Record::to("lines").value(line)
}

static POSITION: AtomicI64 = AtomicI64::new(0);

source!(PositionInStatic, "position-in-static",
start: |_cfg, _at| POSITION.load(Relaxed),
emit: |this, out, n, line| {
    out.emit(&mut this.at, record(&line), Line { line: n + 1 });
    POSITION.store(n + 1, Relaxed);
});

#[test]
fn a_position_in_a_static_is_caught() {
    must_catch::<PositionInStatic>(some_lines, &["a second task, started at the beginning", "such as a static"]);
}

source!(PositionInFile, "position-in-file",
start: |cfg, _at| {
    let kept = std::fs::read_to_string(cfg.path.with_extension("position")).unwrap_or_default();
    kept.parse().unwrap_or(0)
},
emit: |this, out, n, line| {
    out.emit(&mut this.at, record(&line), Line { line: n + 1 });
    std::fs::write(this.path.with_extension("position"), (n + 1).to_string()).fatal()?;
});

#[test]
fn a_position_in_a_file_of_its_own_is_caught() {
    must_catch::<PositionInFile>(some_lines, &["a second task, started at the beginning", "a file of its own"]);
}

source!(OneOffsetPerBatch, "one-offset-per-batch",
start: |_cfg, at| next(&at),
emit: |this, out, n, line| {
    // The offset of the batch's end for every record of it.
    let end = n / 5 * 5 + 5;
    out.emit(&mut this.at, record(&line), Line { line: end });
});

#[test]
fn one_offset_for_a_whole_batch_is_caught() {
    must_catch::<OneOffsetPerBatch>(some_lines, &["have the same offset", "emit them as a group"]);
}

source!(OffByOne, "off-by-one",
start: |_cfg, at| next(&at),
emit: |this, out, n, line| {
    // Where the record was, not where the next one is.
    out.emit(&mut this.at, record(&line), Line { line: n });
});

source!(OneTooFar, "one-too-far",
start: |_cfg, at| next(&at),
emit: |this, out, n, line| {
    out.emit(&mut this.at, record(&line), Line { line: n + 2 });
});

#[test]
fn an_offset_that_is_off_by_one_is_caught_at_the_first_kill() {
    must_catch::<OffByOne>(
        some_lines,
        &[r#"started at {"number":0} {"line":0}: record 2"#, "expected topic `lines`", "line 1", "came", "line 0"],
    );
    must_catch::<OneTooFar>(some_lines, &["record 2", "line 1", "came", "line 2"]);
}

source!(IgnoredCursor, "ignored-cursor",
start: |_cfg, _at| 0,
emit: |this, out, n, line| {
    out.emit(&mut this.at, record(&line), Line { line: n + 1 });
});

#[test]
fn a_cursor_that_is_not_looked_at_is_caught() {
    must_catch::<IgnoredCursor>(some_lines, &["record 2", "came", "line 0"]);
}

source!(BatchShape, "batch-shape",
start: |_cfg, at| next(&at),
emit: |this, out, n, line| {
    let numbered = format!("{} {line}", out.len());
    out.emit(&mut this.at, record(&numbered), Line { line: n + 1 });
});

#[test]
fn output_that_depends_on_the_shape_of_batches_is_caught() {
    must_catch::<BatchShape>(some_lines, &["with batches of 1", "record 2"]);
}

source!(EqualOffsets, "equal-offsets",
start: |_cfg, at| next(&at),
emit: |this, out, n, line| {
    out.emit(&mut this.at, record(&line), Line { line: n.min(0) });
});

#[test]
fn equal_offsets_are_caught() {
    must_catch::<EqualOffsets>(some_lines, &["have the same offset"]);
}

static CONFIRMED: AtomicI64 = AtomicI64::new(0);

source!(HookToSource, "hook-to-source", hook: Confirm,
start: |_cfg, at| next(&at).max(CONFIRMED.load(Relaxed)).min(next(&at) + 1).max(0) * i64::from(next(&at) > 0),
emit: |this, out, n, line| {
    out.emit(&mut this.at, record(&line), Line { line: n + 1 });
});

struct Confirm;

impl CommitHook for Confirm {
    type Source = HookToSource;

    async fn connect(_: &FileConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self)
    }

    async fn committed(&mut self, done: Committed<'_, HookToSource>) -> Result<()> {
        done.iter().for_each(|(_, offset)| CONFIRMED.store(offset.line + 1, Relaxed));
        Ok(())
    }
}

#[test]
fn a_hook_that_moves_its_source_through_a_static_is_caught() {
    must_catch::<HookToSource>(some_lines, &["with a commit hook that is always told"]);
}

static KEPT: Mutex<Vec<Cursor<Part, Line>>> = Mutex::new(Vec::new());

/// Puts its cursor into a static, where the next life finds it.
struct KeptCursor {
    lines: Vec<String>,
}

/// A cheat.
#[source_connector(name = "kept-cursor", exactly_once = supported(untested = "the kit is called by hand"))]
impl Source for KeptCursor {
    type Config = FileConfig;
    type Partition = Part;
    type Offset = Line;

    async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
        Ok(vec![Part { number: 0 }])
    }

    async fn open(cfg: &FileConfig, at: Cursors<Part, Line>) -> Result<Self> {
        KEPT.lock().expect("the kit runs one life at a time").push(at.only()?);
        Ok(Self { lines: lines(&cfg.path) })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        let mut kept = KEPT.lock().expect("the kit runs one life at a time");
        let cursor = &mut kept[0];
        while let Some(line) = at(&self.lines, next(cursor)).filter(|_| !out.is_full()) {
            let offset = Line { line: next(cursor) + 1 };
            out.emit(cursor, record(line), offset);
        }
        // The second life goes on from the beginning, as if nothing had been.
        if next(cursor) == 23 {
            kept.rotate_left(1);
        }
        Ok(())
    }
}

#[test]
fn a_cursor_of_an_earlier_life_is_caught() {
    must_catch::<KeptCursor>(some_lines, &["a cursor of another task or of an earlier life of this task was used"]);
}

static QUEUE: Mutex<Option<Vec<String>>> = Mutex::new(None);

source!(DestructiveRead, "destructive-read",
start: |cfg, at| {
    QUEUE.lock().expect("the kit runs one life at a time").get_or_insert_with(|| lines(&cfg.path));
    next(&at)
},
emit: |this, out, n, line| {
    // What was read is gone, as in a queue.
    if QUEUE.lock().expect("the kit runs one life at a time").as_mut().is_some_and(|queue| !queue.is_empty() && { queue.remove(0); true }) {
        out.emit(&mut this.at, record(&line), Line { line: n + 1 });
    }
});

#[test]
fn a_destructive_read_is_caught() {
    must_catch::<DestructiveRead>(some_lines, &["a second task, started at the beginning"]);
}

static UNDER_WAY: AtomicI64 = AtomicI64::new(-1);

source!(LostAtWait, "lost-at-wait",
start: |_cfg, at| {
    // A line that was under way is taken for sent.
    let under_way = UNDER_WAY.swap(-1, Relaxed);
    if under_way == next(&at) { under_way + 1 } else { next(&at) }
},
emit: |this, out, n, line| {
    UNDER_WAY.store(n, Relaxed);
    tokio::task::yield_now().await;
    out.emit(&mut this.at, record(&line), Line { line: n + 1 });
    UNDER_WAY.store(-1, Relaxed);
});

#[test]
fn a_poll_that_loses_a_line_when_it_is_dropped_at_a_wait_is_caught() {
    must_catch::<LostAtWait>(some_lines, &["dropped at its wait number 1", "record 1", "line 1"]);
}

source!(HalfLines, "half-lines",
start: |_cfg, at| next(&at),
emit: |this, out, n, line| {
    out.emit(&mut this.at, record(&line), Line { line: n + 1 });
    // The file as it is now, with the half line at its end.
    let text = std::fs::read_to_string(&this.path).fatal()?;
    this.lines = text.lines().map(str::to_owned).collect();
});

#[test]
fn a_half_line_that_is_taken_for_a_whole_one_is_caught() {
    let torn = || Fixture::new().file("path", "in.txt", "one\ntw").append("in.txt", "o\nthree\n");
    must_catch::<HalfLines>(torn, &["with input that was added between its lives", "\"two\"", "\"tw\""]);
}

source!(Panics, "panics",
start: |_cfg, at| next(&at),
emit: |this, out, n, line| {
    assert!(n < 20, "line {n} is one too many");
    out.emit(&mut this.at, record(&line), Line { line: n + 1 });
});

#[test]
fn a_panic_is_told_as_what_it_is() {
    must_catch::<Panics>(some_lines, &["undisturbed, `poll` failed: panicked in `poll`: line 20 is one too many"]);
}

/// Reads several partitions, and starts all of them where the furthest one is.
struct OnePositionForAll {
    at: Vec<Cursor<Part, Line>>,
    lines: Vec<String>,
    next: i64,
}

/// A cheat.
#[source_connector(name = "one-position-for-all", exactly_once = supported(untested = "the kit is called by hand"))]
impl Source for OnePositionForAll {
    type Config = FileConfig;
    type Partition = Part;
    type Offset = Line;

    async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
        Ok((0..2).map(|number| Part { number }).collect())
    }

    async fn open(cfg: &FileConfig, at: Cursors<Part, Line>) -> Result<Self> {
        let at: Vec<_> = at.into_iter().collect();
        let next = at.iter().map(next).max().unwrap_or(0);
        Ok(Self { at, lines: lines(&cfg.path), next })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        while let Some(line) = at(&self.lines, self.next).filter(|_| !out.is_full()) {
            for at in &mut self.at {
                out.emit(at, record(line), Line { line: self.next + 1 });
            }
            self.next += 1;
        }
        Ok(())
    }
}

#[test]
fn one_position_for_several_partitions_is_caught() {
    must_catch::<OnePositionForAll>(some_lines, &["of partition {\"number\":1} differs"]);
}
