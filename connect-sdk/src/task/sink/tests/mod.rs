//! Goal: the sink loop keeps its order of calls and its offsets right, whatever happens when. Method: the loop itself, on
//! a group in memory, a virtual clock, and a sink that does what a test says; every call of both sides is one log.

mod commits;
mod conversion;
mod dead_letters;
mod errors;
mod random;
mod rebalance;
mod retries;
mod states;

use super::*;
use crate::config::{ConfigDef, ConfigErrors};
use crate::erased::{BoxFuture, DynConverter};
use crate::{
    sink::{CloseReason, PreCommit, PutCx, Safe, SinkMeta, SinkRecord, StartOffsets, TopicPartition},
    task::ports::DeadLetterTopic,
    testkit::{MemoryGroup, MemoryKafka, RawRecord, Reports, Sim, TextConverter, Wishes},
};
use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Mutex, MutexGuard},
    task::Waker,
};

type PutHook = Box<dyn FnMut(&[SinkRecord], &mut PutCx) -> Result<()> + Send>;

/// How the sink answers `pre_commit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// What it holds is not safe; on closing it writes everything.
    Honest,
    /// Always `all()`, whatever it holds.
    Everything,
    /// Always `none()`, and nothing on closing.
    Nothing,
}

/// What the sink is to do, and what was done.
struct Script {
    log: Vec<String>,
    lends: bool,
    answer: Answer,
    /// The results of calls to come, by their name; what is not here is `Ok`.
    results: Vec<(&'static str, TaskError)>,
    panics: Option<&'static str>,
    /// Calls of this name do not return.
    stuck: Option<&'static str>,
    stuck_wakers: Vec<Waker>,
    start: StartOffsets,
    on_put: Option<PutHook>,
    /// A buffered sink keeps this many records unwritten.
    keeps: usize,
    /// What is in the target: partition and offset.
    written: BTreeSet<(i32, i64)>,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Script>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn log(&self, line: impl Into<String>) {
        self.lock().log.push(line.into());
    }

    fn write<R: std::borrow::Borrow<SinkRecord>>(&self, records: impl Iterator<Item = R>) {
        let places = records.map(|r| (r.borrow().partition(), r.borrow().offset()));
        self.lock().written.extend(places);
    }

    /// Waits while calls of this name are stuck, then answers as the script says.
    async fn outcome(&self, call: &'static str) -> Result<()> {
        poll_fn(|cx| {
            let mut script = self.lock();
            if script.stuck == Some(call) {
                script.stuck_wakers.push(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
        let mut script = self.lock();
        let panics = script.panics == Some(call);
        let at = script.results.iter().position(|(name, _)| *name == call);
        let error = at.map(|at| script.results.remove(at).1);
        drop(script);
        assert!(!panics, "as the script says");
        error.map_or(Ok(()), Err)
    }
}

impl DynSinkConnector for Shared {
    fn meta(&self) -> &'static SinkMeta {
        &SinkMeta { name: "scripted", java: None, version: "1", doc: "", type_name: "Scripted" }
    }

    fn config_def(&self) -> ConfigDef {
        ConfigDef::new()
    }

    fn check(&self, _: &Properties) -> Result<(), ConfigErrors> {
        Ok(())
    }

    fn open(&self, _: Properties, _: OpenCx) -> BoxFuture<'static, Result<Box<dyn DynSink>>> {
        let shared = self.clone();
        Box::pin(async move {
            shared.log("open");
            shared.outcome("open").await?;
            Ok(Box::new(Scripted { shared, held: VecDeque::new() }) as Box<dyn DynSink>)
        })
    }
}

struct Scripted {
    shared: Shared,
    held: VecDeque<SinkRecord>,
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.shared.log("drop");
    }
}

fn names(partitions: &[TopicPartition]) -> String {
    partitions.iter().map(|p| format!(" {p}")).collect()
}

impl DynSink for Scripted {
    fn lends(&self) -> bool {
        self.shared.lock().lends
    }

    fn put<'a>(&'a mut self, records: &'a mut Vec<SinkRecord>, cx: &'a mut PutCx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let texts: Vec<_> =
                records.iter().map(|r| format!(" {}-{}@{}", r.topic(), r.partition(), r.offset())).collect();
            self.shared.log(format!("put{}", texts.concat()));
            let hook = self.shared.lock().on_put.take();
            if let Some(mut hook) = hook {
                let result = hook(records, cx);
                let mut script = self.shared.lock();
                script.on_put.get_or_insert(hook);
                drop(script);
                result?;
            }
            if !self.lends() {
                self.held.extend(std::mem::take(records));
                let keeps = self.shared.lock().keeps;
                let ready = self.held.len().saturating_sub(keeps);
                self.shared.write(self.held.drain(..ready));
                return self.shared.outcome("put").await;
            }
            self.shared.outcome("put").await?;
            self.shared.write(records.iter());
            Ok(())
        })
    }

    fn pre_commit<'c>(&'c mut self, at: PreCommit<'c>) -> BoxFuture<'c, Result<Safe<'c>>> {
        Box::pin(async move {
            let why = match &at {
                PreCommit::Running(_) => "running".to_owned(),
                PreCommit::Closing(closing) => {
                    let partitions: Vec<_> = closing.partitions().cloned().collect();
                    format!("{:?}{}", closing.reason(), names(&partitions))
                }
            };
            self.shared.log(format!("pre_commit {why}"));
            self.shared.outcome("pre_commit").await?;
            let answer = self.shared.lock().answer;
            Ok(match (at, answer) {
                (PreCommit::Running(at), Answer::Honest) => at.except(&self.held),
                (PreCommit::Running(at), Answer::Everything) => at.all(),
                (PreCommit::Running(at), Answer::Nothing) => at.none(),
                (PreCommit::Closing(at), Answer::Honest) => {
                    let closing: Vec<_> = at.partitions().cloned().collect();
                    let is_closing =
                        |r: &SinkRecord| closing.iter().any(|p| *p.topic == *r.topic() && p.partition == r.partition());
                    let (closing, kept) = std::mem::take(&mut self.held).into_iter().partition(is_closing);
                    let closing: VecDeque<SinkRecord> = closing;
                    self.held = kept;
                    self.shared.write(closing.iter());
                    at.all_written()
                }
                (PreCommit::Closing(at), Answer::Everything) => at.all_written(),
                (PreCommit::Closing(at), Answer::Nothing) => at.redeliver(&self.held),
            })
        })
    }

    fn assigned<'a>(&'a mut self, partitions: &'a [TopicPartition]) -> BoxFuture<'a, Result<StartOffsets>> {
        Box::pin(async move {
            self.shared.log(format!("assigned{}", names(partitions)));
            self.shared.outcome("assigned").await?;
            Ok(self.shared.lock().start.clone())
        })
    }

    fn closed<'a>(&'a mut self, partitions: &'a [TopicPartition], why: CloseReason) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.shared.log(format!("closed {why:?}{}", names(partitions)));
            let gone =
                |r: &SinkRecord| partitions.iter().any(|p| *p.topic == *r.topic() && p.partition == r.partition());
            self.held.retain(|r| !gone(r));
            self.shared.outcome("closed").await
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.shared.log("close");
            // Its error has nowhere to go.
            let _none = self.shared.outcome("close").await;
        })
    }
}

/// One task on its stage.
struct Stage {
    sim: Sim,
    group: MemoryGroup,
    wishes: Wishes,
    reports: Reports,
    sink: Shared,
    properties: Properties,
    chain: Option<Box<dyn DynTransformation>>,
    converter: Arc<dyn DynConverter>,
    /// Where the dead letter queue is, and whether its records have context headers.
    letters: Option<(MemoryKafka, bool)>,
    end: Arc<Mutex<Option<TaskEnd>>>,
}

fn t(n: i32) -> TopicPartition {
    TopicPartition::new("t", n)
}

fn direct(properties: &[(&str, &str)]) -> Stage {
    Stage::new(true, properties)
}

fn buffered(properties: &[(&str, &str)]) -> Stage {
    Stage::new(false, properties)
}

impl Stage {
    fn new(lends: bool, properties: &[(&str, &str)]) -> Self {
        let script = Script {
            log: vec![],
            lends,
            answer: Answer::Honest,
            results: vec![],
            panics: None,
            stuck: None,
            stuck_wakers: vec![],
            start: StartOffsets::none(),
            on_put: None,
            keeps: usize::MAX,
            written: BTreeSet::new(),
        };
        let (sink, group) = (Shared(Arc::new(Mutex::new(script))), MemoryGroup::new());
        let log = sink.clone();
        group.watch(move |call| log.log(call.to_string()));
        Self {
            sim: Sim::new(1),
            group,
            wishes: Wishes::new(TargetState::Started),
            reports: Reports::new(),
            sink,
            properties: properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            chain: None,
            converter: Arc::new(TextConverter),
            letters: None,
            end: Arc::default(),
        }
    }

    /// Starts the task, with two partitions and `n` records in each.
    fn start_with(mut self, n: i64) -> Self {
        self.append(0, n);
        self.append(1, n);
        self.group.assign(&[t(0), t(1)]);
        self.start();
        self
    }

    fn start(&mut self) {
        let (key, value, header) = (Arc::new(TextConverter), self.converter.clone(), Arc::new(TextConverter));
        let setup = SinkSetup {
            connector: Arc::new(self.sink.clone()),
            properties: self.properties.clone(),
            task: TaskInfo { connector: "s".to_owned(), index: 0, n_tasks: 1 },
            config: SinkTaskConfig::from_properties(&self.properties).unwrap(),
            converters: Converters { key, value, header },
            chain: self.chain.take(),
            dead_letters: self.letters.as_ref().map(|(kafka, context_headers)| SinkDeadLetters {
                topic: DeadLetterTopic {
                    name: "dlq".into(),
                    context_headers: *context_headers,
                    topics: Arc::new(kafka.clone()),
                },
                producer: kafka.producer(),
            }),
            consumer: self.group.join(),
            commands: Box::new(self.wishes.clone()),
            clock: Arc::new(self.sim.clock()),
            observer: Arc::new(self.reports.clone()),
        };
        let end = Arc::clone(&self.end);
        self.sim.spawn(async move {
            let ended = run(setup).await;
            *end.lock().unwrap() = Some(ended);
        });
    }

    fn append(&self, partition: i32, n: i64) {
        for _ in 0..n {
            self.group.append(&t(partition), RawRecord::value("v"));
        }
    }

    /// Lets everything happen that needs no time.
    fn settle(&mut self) {
        self.sim.run_for(Duration::ZERO);
        assert_eq!(self.group.violations(), [""; 0]);
    }

    fn pass(&mut self, ms: u64) {
        self.sim.run_for(Duration::from_millis(ms));
        assert_eq!(self.group.violations(), [""; 0]);
    }

    fn stop(&mut self) {
        self.wishes.wish(TargetState::Stopped);
        self.settle();
    }

    /// What happened since the last call of this.
    fn log(&mut self) -> Vec<String> {
        self.settle();
        std::mem::take(&mut self.sink.lock().log)
    }

    /// As [`Self::log`], of lines that begin with one of these words.
    fn log_of(&mut self, words: &[&str]) -> Vec<String> {
        let mut log = self.log();
        log.retain(|line| words.iter().any(|w| line.split(' ').next() == Some(*w)));
        log
    }

    fn fail(&self, call: &'static str, error: TaskError) {
        self.sink.lock().results.push((call, error));
    }

    fn stick(&self, call: &'static str) {
        self.sink.lock().stuck = Some(call);
    }

    fn unstick(&mut self) {
        let wakers = {
            let mut script = self.sink.lock();
            script.stuck = None;
            std::mem::take(&mut script.stuck_wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
        self.settle();
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.sink.lock()
    }

    fn on_put(&self, hook: impl FnMut(&[SinkRecord], &mut PutCx) -> Result<()> + Send + 'static) {
        self.sink.lock().on_put = Some(Box::new(hook));
    }

    /// The error that the task ended with; none if it was stopped.
    fn end(&mut self) -> Option<String> {
        self.settle();
        match self.end.lock().unwrap().take().expect("the task has ended") {
            TaskEnd::Stopped => None,
            TaskEnd::Failed(error) => Some(error.chain()),
        }
    }

    fn is_running(&self) -> bool {
        self.end.lock().unwrap().is_none()
    }

    fn committed(&self) -> (Option<i64>, Option<i64>) {
        (self.group.committed(&t(0)), self.group.committed(&t(1)))
    }
}
