//! Sinks in simulated worlds.

use crate::target::Target;
use connect_sdk::{
    prelude::*,
    sink::SinkConnector,
    testkit::{SinkFixture, SinkSimulation, simulate_sink},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

#[derive(ConnectorConfig)]
pub(crate) struct TargetConfig {
    /// The name of the target.
    target: String,
}

impl TargetConfig {
    fn open(&self) -> Target {
        Target::named(&self.target)
    }
}

fn fixture() -> SinkFixture {
    let target = Target::new();
    let read = target.clone();
    SinkFixture::new([("target", target.name())], move || read.entries())
}

fn simulation<S: SinkConnector>() -> SinkSimulation {
    simulate_sink::<S>(fixture).seeds(0..80).without_io()
}

fn is_of(topic: &str, partition: i32, partitions: &[TopicPartition]) -> bool {
    partitions.iter().any(|p| *p.topic == *topic && p.partition == partition)
}

struct Direct(Target);

/// Writes at once.
#[sink_connector(name = "direct")]
impl DirectSink for Direct {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self(cfg.open()))
    }
    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        for r in records {
            // Each write takes its time, so that a kill may come between two of them.
            tokio::task::yield_now().await;
            self.0.write(r.value_text());
        }
        Ok(())
    }
}

#[test]
fn a_sink_that_writes_at_once_keeps_its_promise_in_any_world() {
    let report = simulation::<Direct>().run();
    for event in [
        "a revocation between put and pre_commit",
        "a revocation during a call into the sink",
        "a loss of records that were put and not committed",
        "the result of a commit after its partition was given up",
        "a consumer that failed",
        "a sink that was opened again",
    ] {
        assert!(report.seen(event) > 0, "never met {event}: {report:?}");
    }
    assert!(report.crash_points > 80, "{report:?}");
}

struct Buffered {
    target: Target,
    held: Vec<SinkRecord>,
}

/// Writes whenever five records have come together, or after a while; on closing it writes everything.
#[sink_connector(name = "buffered")]
impl BufferedSink for Buffered {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), held: vec![] })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, cx: &mut PutCx) -> Result<()> {
        let is_due = records.is_empty();
        self.held.extend(records);
        if is_due || self.held.len() >= 5 {
            self.held.drain(..).for_each(|r| self.target.write(r.value_text()));
            cx.request_commit();
        } else {
            cx.wake_after(Duration::from_millis(700));
        }
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(at) => at.except(&self.held),
            PreCommit::Closing(at) => {
                let closing: Vec<_> = at.partitions().cloned().collect();
                let (gone, kept): (Vec<_>, Vec<_>) =
                    std::mem::take(&mut self.held).into_iter().partition(|r| is_of(r.topic(), r.partition(), &closing));
                gone.into_iter().for_each(|r| self.target.write(r.value_text()));
                self.held = kept;
                at.all_written()
            }
        })
    }
    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        self.held.retain(|r| !is_of(r.topic(), r.partition(), partitions));
        Ok(())
    }
}

/// Keeps rows with tokens; what is not written on closing is delivered again.
struct Rows {
    target: Target,
    held: Vec<(Position, String)>,
}

/// Keeps rows.
#[sink_connector(name = "rows")]
impl BufferedSink for Rows {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), held: vec![] })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        self.held.extend(records.iter().map(|r| (r.position(), r.value_text().into_owned())));
        let ready = self.held.len().saturating_sub(2);
        self.held.drain(..ready).for_each(|(_, row)| self.target.write(row));
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(at) => at.except(self.held.iter().map(|(position, _)| position)),
            PreCommit::Closing(at) => at.redeliver(self.held.iter().map(|(position, _)| position)),
        })
    }
    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        self.held.retain(|(at, _)| !is_of(at.topic(), at.partition(), partitions));
        Ok(())
    }
}

#[test]
fn sinks_that_keep_records_keep_their_promise_in_any_world() {
    simulation::<Buffered>().run();
    simulation::<Rows>().run();
}

struct OwnOffsets(Target);

/// Stores offsets together with its entries.
#[sink_connector(name = "own-offsets")]
impl BufferedSink for OwnOffsets {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self(cfg.open()))
    }
    async fn assigned(&mut self, partitions: &[TopicPartition]) -> Result<StartOffsets> {
        Ok(partitions.iter().fold(StartOffsets::none(), |start, p| match self.0.offset(&p.topic, p.partition) {
            Some(offset) => start.at(p, offset),
            None => start,
        }))
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        for r in records {
            // Whoever had the partition before may have written it meanwhile: the target refuses it.
            if self.0.offset(r.topic(), r.partition()).unwrap_or(0) <= r.offset() {
                self.0.write(r.value_text());
                self.0.set_offset(r.topic(), r.partition(), r.offset() + 1);
            }
        }
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
fn a_sink_that_keeps_offsets_in_its_target_writes_each_record_once() {
    simulation::<OwnOffsets>().each_once().run();
    let error = simulation::<Direct>().each_once().check().unwrap_err();
    assert!(error.contains("2 times in the target"), "{error}");
}

#[test]
fn a_seed_is_one_order_of_events() {
    let run = |seeds| simulate_sink::<Rows>(fixture).seeds(seeds).crash_points(0).without_io().run();
    let (first, second) = (run(0..20), run(0..20));
    assert_eq!(first, second);
    assert_ne!(first.sum, run(1..21).sum);
}

#[derive(ConnectorConfig)]
struct FileConfig {
    /// The file to write.
    path: std::path::PathBuf,
}

struct Appends(tokio::fs::File);

/// Appends to a file with tokio's files, which work on threads of their own.
#[sink_connector(name = "appends")]
impl DirectSink for Appends {
    type Config = FileConfig;

    async fn open(cfg: &FileConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self(tokio::fs::OpenOptions::new().create(true).append(true).open(&cfg.path).await.retriable()?))
    }
    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        use tokio::io::AsyncWriteExt;
        for r in records {
            self.0.write_all(format!("{}\n", r.value_text()).as_bytes()).await.retriable()?;
        }
        self.0.flush().await.retriable()
    }
}

#[test]
fn a_sink_that_writes_files_is_simulated_too() {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    let n = Arc::new(Mutex::new(0));
    let files = move || {
        *n.lock().unwrap() += 1;
        let path = dir.path().join(n.lock().unwrap().to_string());
        let (read, kept) = (path.clone(), Arc::clone(&dir));
        SinkFixture::new([("path", path.display().to_string())], move || {
            let _dir = &kept;
            std::fs::read_to_string(&read).unwrap_or_default().lines().map(str::to_owned).collect()
        })
    };
    let report = simulate_sink::<Appends>(files).seeds(0..20).run();
    assert!(report.crash_points > 80, "{report:?}");
}

#[track_caller]
fn must_find<S: SinkConnector>(text: &str) {
    match simulation::<S>().check() {
        Ok(report) => panic!("`{}` is broken, and no world showed it: {report:?}", S::META.name),
        Err(error) => {
            for text in [text, "CONNECT_SIM_SEED=", "at step", "the latest steps"] {
                assert!(error.contains(text), "found something else than `{text}`: {error}");
            }
        }
    }
}

struct Queues {
    target: Target,
    held: Vec<String>,
}

/// Keeps rows in a queue of its own, of which the framework does not know.
#[sink_connector(name = "queues")]
impl DirectSink for Queues {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), held: vec![] })
    }
    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        self.held.extend(records.iter().map(|r| r.value_text().into_owned()));
        if self.held.len() >= 4 {
            self.held.drain(..).for_each(|row| self.target.write(row));
        }
        Ok(())
    }
}

#[test]
fn rows_that_wait_in_a_queue_while_their_offsets_are_committed_are_found() {
    must_find::<Queues>("is not in the target");
}

struct PassesOver {
    target: Target,
    failed: Vec<String>,
}

/// A write that fails is put aside; the next one that works moves the commit past it.
#[sink_connector(name = "passes-over")]
impl BufferedSink for PassesOver {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), failed: vec![] })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        for r in records {
            let row = r.value_text().into_owned();
            if r.offset() % 5 == 3 && !self.failed.contains(&row) {
                self.failed.push(row);
            } else {
                self.target.write(row);
            }
        }
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
fn a_failed_write_that_the_next_good_one_passes_over_is_found() {
    must_find::<PassesOver>("is not in the target");
}

type Shared = Arc<Mutex<Vec<(Position, String)>>>;

struct Timed {
    target: Target,
    held: Shared,
}

fn flush(target: &Target, held: &Shared) {
    held.lock().expect("nobody panics with it").drain(..).for_each(|(_, row)| target.write(row));
}

/// A timer of its own writes what is held, whatever the framework was told of it.
#[sink_connector(name = "timed")]
impl BufferedSink for Timed {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), held: Shared::default() })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        self.held
            .lock()
            .expect("nobody panics with it")
            .extend(records.iter().map(|r| (r.position(), r.value_text().into_owned())));
        let (target, held) = (self.target.clone(), Arc::clone(&self.held));
        tokio::spawn(async move {
            drop(tokio::time::timeout(Duration::from_millis(300), std::future::pending::<()>()).await);
            flush(&target, &held);
        });
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        let held = self.held.lock().expect("nobody panics with it");
        Ok(match at {
            PreCommit::Running(at) => at.except(held.iter().map(|(position, _)| position)),
            PreCommit::Closing(at) => at.redeliver(held.iter().map(|(position, _)| position)),
        })
    }
}

#[test]
fn a_timer_that_writes_after_the_last_commit_is_found() {
    must_find::<Timed>("is written, although the partition was given up");
}

struct Replays(Target);

/// One record that cannot be written makes it ask for the whole batch again.
#[sink_connector(name = "replays")]
impl DirectSink for Replays {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self(cfg.open()))
    }
    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        for r in records {
            let refused = r.offset() % 5 == 3 && !self.0.entries().iter().any(|e| e.contains("refused"));
            if refused {
                self.0.write("refused");
                return Err(TaskError::retriable("refused"));
            }
            self.0.write(r.value_text());
        }
        Ok(())
    }
}

#[test]
fn a_refused_record_that_replays_its_batch_is_found() {
    // Without any trouble but its own.
    let error = simulate_sink::<Replays>(fixture).seeds(0..80).without_io().each_once().check().unwrap_err();
    assert!(error.contains("2 times in the target"), "{error}");
}
