//! Sources that keep their promise, one of each kind: the kit must pass them, and try enough.

use super::*;
use std::{io::SeekFrom, time::Duration};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncSeekExt, BufReader},
};

#[derive(SourceOffset)]
pub(crate) struct Pos {
    position: i64,
}

/// Reads a file line by line, as the tutorial does.
struct FileLines {
    at: Cursor<Part, Pos>,
    file: BufReader<File>,
    line: String,
    topic: String,
}

/// One record for each line of a file.
#[source_connector(name = "file-lines", exactly_once = supported, replay_test = growing_file)]
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
        Ok(Self { at, file: BufReader::new(file), line: String::new(), topic: cfg.topic.clone() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        while !out.is_full() && self.file.read_line(&mut self.line).await.retriable()? > 0 && self.line.ends_with('\n')
        {
            let line = std::mem::take(&mut self.line);
            let position = self.at.offset().map_or(0, |p| p.position) + i64::try_from(line.len()).fatal()?;
            let record = Record::to(&self.topic).value(line.trim_end_matches(['\r', '\n']));
            out.emit(&mut self.at, record, Pos { position });
        }
        Ok(())
    }
}

fn growing_file() -> Fixture {
    // The first part ends in the middle of a line.
    Fixture::new()
        .file("path", "in.txt", "one\ntwo\r\n\nfour is long\nfi")
        .append("in.txt", "ve\nsix\nse")
        .append("in.txt", "ven\n")
        .records(7)
}

/// Several partitions, groups, advances, headers, and waits in the middle of it all.
struct Groups {
    at: Vec<Cursor<Part, Line>>,
    lines: Vec<String>,
    topic: String,
}

#[source_connector(name = "groups", exactly_once = supported, replay_test = some_lines)]
/// Groups of lines.
impl Source for Groups {
    type Config = FileConfig;
    type Partition = Part;
    type Offset = Line;

    async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
        Ok((0..3).map(|number| Part { number }).collect())
    }

    async fn open(cfg: &FileConfig, at: Cursors<Part, Line>) -> Result<Self> {
        tokio::task::yield_now().await;
        Ok(Self { at: at.into_iter().collect(), lines: lines(&cfg.path), topic: cfg.topic.clone() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        let mut moved = false;
        for at in &mut self.at {
            let (n, number) = (next(at), at.partition().number);
            let here: Vec<_> = (n..n + 3).filter_map(|i| super::at(&self.lines, i)).collect();
            moved |= !here.is_empty();
            tokio::task::yield_now().await;
            let end = Line { line: n + i64::try_from(here.len()).fatal()? };
            match here.len() {
                0 => {}
                // Every fourth window is passed over.
                _ if n % 4 == 0 && n > 0 => out.advance(at, end),
                1 => out.emit(at, Record::to(&self.topic).key(number).value(here[0]), end),
                _ => {
                    let record =
                        |line: &&'_ str| Record::to("groups").key(number).value((*line).to_owned()).header("n", n);
                    out.emit_group(at, here.iter().map(record).collect::<Vec<_>>(), end);
                }
            }
            if out.is_full() {
                break;
            }
        }
        if !moved {
            // Waits for input that never comes, as a tail does.
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

/// Counts in the configuration's file, with a hook that only cleans up.
struct WithHook {
    at: Cursor<Part, Line>,
    lines: Vec<String>,
}

#[source_connector(name = "with-hook", exactly_once = supported, replay_test = some_lines, on_commit = Cleaner)]
/// Lines, and a hook.
impl Source for WithHook {
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
        while let Some(line) = at(&self.lines, next(&self.at)) {
            if out.is_full() {
                break;
            }
            let offset = Line { line: next(&self.at) + 1 };
            out.emit(&mut self.at, Record::to("hooked").value(line), offset);
        }
        Ok(())
    }
}

struct Cleaner(PathBuf);

impl CommitHook for Cleaner {
    type Source = WithHook;

    async fn connect(cfg: &FileConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self(cfg.path.with_extension("confirmed")))
    }

    async fn committed(&mut self, done: Committed<'_, WithHook>) -> Result<()> {
        for (_, offset) in done.iter() {
            tokio::fs::write(&self.0, offset.line.to_string()).await.retriable()?;
        }
        Ok(())
    }
}

#[test]
fn the_kit_tries_many_lives() {
    let report = check_source::<Groups>(some_lines).unwrap();
    assert_eq!(report.records % 3, 0);
    assert!(report.records > 30 && report.lives > 100, "{report:?}");
}

#[test]
fn a_fixture_that_gives_nothing_is_refused() {
    must_catch::<FileLines>(|| Fixture::new().file("path", "in.txt", ""), &["gives no record"]);
    must_catch::<FileLines>(|| growing_file().records(6), &["promises 6 records", "gives 7"]);
    must_catch::<FileLines>(Fixture::new, &["configuration is wrong", "path"]);
}

#[test]
fn a_source_that_stops_short_is_named() {
    let started = std::time::Instant::now();
    must_catch::<Groups>(
        || some_lines().records(500),
        &["undisturbed, gave", "records and then nothing for 5 s, but 500 were expected"],
    );
    assert!(started.elapsed() < Duration::from_secs(30));
}
