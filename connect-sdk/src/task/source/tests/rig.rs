//! A task on fakes, with a source that does what a script says.

use super::super::*;
use crate::{
    config::{ConfigDef, ConfigErrors, ConnectorConfig, derive_support::Derived},
    converter::PassThrough,
    data::{DataError, SchemaAndValue},
    erased::{DynConverter, DynTransformation},
    source::{
        AtLeastOnce, Batch, CommitHook, Committed, Cursor, Cursors, DefinesTransactions, ExactlyOnce, FieldMap,
        FieldValue, PayloadRef, Record, RestoreError, Source, SourceConnector, SourceMeta, SourceOffset,
        SourcePartition,
    },
    testkit::{MemoryKafka, MemoryOffsets, Reports, Sim, VirtualClock, Wishes},
};
use bytes::Bytes;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{LazyLock, Mutex, atomic::AtomicU64},
};

/// What the source does in one poll. Each number is one record; slot `s` emits `s:0`, `s:1`, ..
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// Emits `n` numbers of each slot, in turn.
    Emit(i64),
    /// Emits `n` numbers of each slot as one group with one offset.
    Group(i64),
    /// Passes over `n` numbers of each slot without a record.
    Advance(i64),
    /// Emits one number with this value instead of its own, to this topic.
    Say(&'static str, String),
    /// Emits one number with this timestamp.
    At(i64),
    /// Emits one number with an acknowledgement callback.
    Acked,
    /// Emits one number twice with the same offset.
    Twice,
    /// Marks the transaction to be committed.
    Commit,
    /// Emits `n` numbers of each slot, and marks the transaction to be aborted behind them.
    EmitAndAbort(i64),
    /// Emits 3 numbers of each slot with a mark to commit behind the second one.
    EmitAndCommit,
    /// Emits nothing.
    Nothing,
    /// Emits one number, then waits for ever.
    EmitAndHang,
    /// Emits one number, then fails.
    EmitAndFail(Option<Duration>),
    Fatal,
    Panic,
    /// Holds the thread for so long, then emits a number.
    Block(Duration),
}

/// What a test and the source of its task share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) acts: VecDeque<Act>,
    /// What to do once `acts` is empty; nothing for ever if `None`.
    pub(super) then: Option<Act>,
    pub(super) clock: Option<VirtualClock>,
    /// Each slot ends before this number.
    pub(super) total: i64,
    pub(super) opened_at: Vec<Vec<i64>>,
    pub(super) open_errors: VecDeque<TaskError>,
    pub(super) n_polls: u64,
    pub(super) n_closed: u32,
    pub(super) n_dropped: u32,
    pub(super) panic_on_drop: bool,
    pub(super) acked: Vec<i64>,
    pub(super) told: Vec<Vec<(i64, i64)>>,
    pub(super) hook_errors: u32,
    pub(super) connect_errors: u32,
    pub(super) n_connected: u32,
}

static SHARED: LazyLock<Mutex<BTreeMap<String, Arc<Mutex<Shared>>>>> = LazyLock::new(Mutex::default);

#[derive(Debug)]
pub(super) struct Config {
    shared: Arc<Mutex<Shared>>,
}

impl ConnectorConfig for Config {
    fn config_def() -> ConfigDef {
        ConfigDef::new()
    }

    fn from_properties(properties: &BTreeMap<String, String>) -> Result<Self, ConfigErrors> {
        Ok(Self { shared: SHARED.lock().unwrap()[&properties["script"]].clone() })
    }

    fn __derived() -> Derived {
        Derived::new()
    }
}

/// A number in a field `n`, as offset and as partition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number(pub(super) i64);

impl Number {
    fn encode(&self) -> FieldMap {
        FieldMap::new().with("n", FieldValue::Int(self.0))
    }

    pub(super) fn decode(stored: &FieldMap) -> Result<Self, RestoreError> {
        match stored.get("n") {
            Some(FieldValue::Int(n)) => Ok(Self(*n)),
            _ => Err(RestoreError::new("no `n`")),
        }
    }
}

impl SourceOffset for Number {
    const FIELDS: &'static [crate::source::FieldMeta] = &[];
    fn __encode(&self) -> FieldMap {
        self.encode()
    }
    fn __decode(stored: &FieldMap) -> Result<Self, RestoreError> {
        Self::decode(stored)
    }
    fn __duplicate(&self) -> Self {
        self.clone()
    }
    fn __same(&self, other: &Self) -> bool {
        self == other
    }
}

impl SourcePartition for Number {
    const FIELDS: &'static [crate::source::FieldMeta] = &[];
    fn __encode(&self) -> FieldMap {
        self.encode()
    }
    fn __decode(stored: &FieldMap) -> Result<Self, RestoreError> {
        Self::decode(stored)
    }
}

pub(super) struct Scripted {
    shared: Arc<Mutex<Shared>>,
    at: Vec<Cursor<Number, Number>>,
}

impl Drop for Scripted {
    fn drop(&mut self) {
        // A failed assertion holds the lock while everything is dropped.
        let mut shared = self.shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        shared.n_dropped += 1;
        if std::mem::take(&mut shared.panic_on_drop) {
            drop(shared);
            panic!("while dropping");
        }
    }
}

fn next(at: &Cursor<Number, Number>) -> i64 {
    at.offset().map_or(0, |o| o.0)
}

impl Scripted {
    fn emit(at: &mut Cursor<Number, Number>, out: &mut Batch<Self>) {
        let (slot, n) = (at.partition().0, next(at));
        let value = format!("{slot}:{n}");
        out.emit(at, Record::to("t").key("k").value(&*value).header("h", "x"), Number(n + 1));
    }
}

impl Source for Scripted {
    type Config = Config;
    type Partition = Number;
    type Offset = Number;

    async fn partitions(_: &Config) -> Result<Vec<Number>> {
        Ok(vec![Number(0)])
    }

    async fn open(cfg: &Config, at: Cursors<Number, Number>) -> Result<Self> {
        let at: Vec<_> = at.into_iter().collect();
        let mut shared = cfg.shared.lock().unwrap();
        if let Some(error) = shared.open_errors.pop_front() {
            return Err(error);
        }
        shared.opened_at.push(at.iter().map(next).collect());
        Ok(Self { shared: cfg.shared.clone(), at })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        let (act, total) = {
            let mut shared = self.shared.lock().unwrap();
            shared.n_polls += 1;
            (shared.acts.pop_front().or_else(|| shared.then.clone()), shared.total)
        };
        let shared = self.shared.clone();
        match act {
            None => std::future::pending().await,
            Some(Act::Nothing) => {}
            Some(Act::Commit) => out.commit_transaction(),
            Some(Act::Fatal) => return Err(TaskError::fatal("no such table")),
            Some(Act::Panic) => panic!("index out of bounds"),
            Some(act) => {
                for at in &mut self.at {
                    let n = next(at);
                    match &act {
                        Act::Emit(count) => (n..total.min(n + count)).for_each(|_| Self::emit(at, out)),
                        Act::Group(count) if n < total => {
                            let end = total.min(n + count);
                            let slot = at.partition().0;
                            let records = (n..end).map(|n| Record::to("t").value(format!("{slot}:{n}")));
                            out.emit_group(at, records.collect::<Vec<_>>(), Number(end));
                        }
                        Act::Advance(count) if n < total => out.advance(at, Number(total.min(n + count))),
                        Act::Say(topic, text) => out.emit(at, Record::to(*topic).value(&**text), Number(n + 1)),
                        Act::At(t) => out.emit(at, Record::to("t").value("timed").timestamp(*t), Number(n + 1)),
                        Act::EmitAndAbort(count) => (n..total.min(n + count)).for_each(|_| Self::emit(at, out)),
                        Act::EmitAndCommit => {
                            Self::emit(at, out);
                            Self::emit(at, out);
                            out.commit_transaction();
                            Self::emit(at, out);
                        }
                        Act::Acked => {
                            let shared = shared.clone();
                            let ack = move || shared.lock().unwrap().acked.push(n);
                            out.emit_acked(at, Record::to("t").value("acked"), Number(n + 1), ack);
                        }
                        Act::Twice => {
                            out.emit(at, Record::to("t").value("once"), Number(n + 1));
                            out.emit(at, Record::to("t").value("twice"), Number(n + 1));
                        }
                        Act::Block(time) => {
                            if let Some(clock) = &shared.lock().unwrap().clock {
                                clock.advance(*time);
                            }
                            Self::emit(at, out);
                        }
                        Act::EmitAndHang | Act::EmitAndFail(_) => Self::emit(at, out),
                        _ => {}
                    }
                }
                match act {
                    Act::EmitAndAbort(_) => out.abort_transaction(),
                    Act::EmitAndHang => std::future::pending().await,
                    Act::EmitAndFail(None) => return Err(TaskError::retriable("connection reset")),
                    Act::EmitAndFail(Some(after)) => return Err(TaskError::retriable_after("slow down", after)),
                    _ => {}
                }
                if out.is_empty() {
                    std::future::pending::<()>().await;
                }
            }
        }
        Ok(())
    }

    async fn close(self) {
        self.shared.lock().unwrap().n_closed += 1;
    }
}

impl AtLeastOnce for Scripted {}
impl DefinesTransactions for Scripted {}

impl SourceConnector for Scripted {
    const META: SourceMeta = SourceMeta {
        name: "scripted",
        java: None,
        version: "1",
        doc: "",
        exactly_once: ExactlyOnce::Unsupported("a test"),
        defines_transactions: false,
        has_hook: true,
        type_name: "Scripted",
    };
    type Hook = Hook;
}

pub(super) struct Hook(Arc<Mutex<Shared>>);

impl CommitHook for Hook {
    type Source = Scripted;

    async fn connect(cfg: &Config, _: &OpenCx) -> Result<Self> {
        let mut shared = cfg.shared.lock().unwrap();
        if shared.connect_errors > 0 {
            shared.connect_errors -= 1;
            return Err(TaskError::fatal("cannot log in"));
        }
        shared.n_connected += 1;
        Ok(Self(cfg.shared.clone()))
    }

    async fn committed(&mut self, done: Committed<'_, Scripted>) -> Result<()> {
        let mut shared = self.0.lock().unwrap();
        if shared.hook_errors > 0 {
            shared.hook_errors -= 1;
            return Err(TaskError::fatal("cannot confirm"));
        }
        shared.told.push(done.iter().map(|(p, o)| (p.0, o.0)).collect());
        Ok(())
    }
}

/// Passes text and bytes through, unless it is told to write; refuses the text `bad`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    pub(super) pass: bool,
}

impl DynConverter for Plain {
    fn write(&self, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        match value {
            PayloadRef::Text("bad") => {
                out.extend_from_slice(b"half of it");
                return Err(DataError::new("not a good text"));
            }
            PayloadRef::Text("panic") => panic!("no such schema"),
            PayloadRef::Text(text) => out.extend_from_slice(text.as_bytes()),
            PayloadRef::Bytes(bytes) => out.extend_from_slice(bytes),
            PayloadRef::Null => return Ok(false),
            PayloadRef::Value(_, value) => match value.and_then(|v| v.as_str()) {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn read(&self, _: &str, _: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }

    fn pass_through(&self) -> PassThrough {
        PassThrough { text: self.pass, bytes: self.pass }
    }
}

pub(super) fn converters(pass: bool) -> Converters {
    let plain = Arc::new(Plain { pass });
    Converters { key: plain.clone(), value: plain.clone(), header: plain }
}

/// A task on fakes.
pub(super) struct Rig {
    pub(super) sim: Sim,
    pub(super) clock: VirtualClock,
    pub(super) kafka: MemoryKafka,
    pub(super) offsets: MemoryOffsets,
    pub(super) wishes: Wishes,
    pub(super) reports: Reports,
    pub(super) shared: Arc<Mutex<Shared>>,
    pub(super) properties: Properties,
    pub(super) n_slots: i64,
    pub(super) pass: bool,
    /// The transactional id, if the task writes exactly once.
    pub(super) exactly_once: Option<&'static str>,
    pub(super) chain: Option<Box<dyn DynTransformation>>,
    /// Other converters than the plain ones.
    pub(super) converters: Option<Converters>,
    /// There is a dead letter queue, `dlq`, with context headers.
    pub(super) has_letters: bool,
    ended: Arc<Mutex<Option<TaskEnd>>>,
}

impl Rig {
    pub(super) fn new(seed: u64, acts: impl IntoIterator<Item = Act>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let script = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string();
        let shared =
            Arc::new(Mutex::new(Shared { acts: acts.into_iter().collect(), total: i64::MAX, ..Shared::default() }));
        SHARED.lock().unwrap().insert(script.clone(), shared.clone());
        let sim = Sim::new(seed);
        let clock = sim.clock();
        shared.lock().unwrap().clock = Some(clock.clone());
        Self {
            kafka: MemoryKafka::new(clock.clone(), seed),
            offsets: MemoryOffsets::new(clock.clone()),
            clock,
            sim,
            wishes: Wishes::new(TargetState::Started),
            reports: Reports::new(),
            shared,
            properties: Properties::from([("script".to_owned(), script)]),
            n_slots: 1,
            pass: true,
            exactly_once: None,
            chain: None,
            converters: None,
            has_letters: false,
            ended: Arc::default(),
        }
    }

    pub(super) fn set(&mut self, key: &str, value: &str) {
        self.properties.insert(key.to_owned(), value.to_owned());
    }

    /// Starts the task; what was started before, and has not ended, runs on.
    pub(super) fn start(&mut self) {
        let config = SourceTaskConfig::from_properties(&self.properties, SourceWorkerValues::default()).unwrap();
        let ports = SourcePorts {
            clock: Arc::new(self.clock.clone()),
            producer: match self.exactly_once {
                None => SourceProducer::AtLeastOnce(self.kafka.producer()),
                Some(id) => SourceProducer::ExactlyOnce(self.kafka.transactional_producer(id, &self.offsets)),
            },
            topics: Arc::new(self.kafka.clone()),
            offsets: Arc::new(self.offsets.clone()),
            commands: Box::new(self.wishes.clone()),
            observer: Arc::new(self.reports.clone()),
            converters: self.converters.take().unwrap_or_else(|| converters(self.pass)),
            chain: self.chain.take(),
            dead_letters: self.has_letters.then(|| DeadLetterTopic {
                name: "dlq".into(),
                context_headers: true,
                topics: Arc::new(self.kafka.clone()),
            }),
        };
        let task = TaskInfo { connector: "c".to_owned(), index: 0, n_tasks: 1 };
        let connector = Arc::new(crate::erased::SourceDescriptor::<Scripted>::new());
        let partitions = (0..self.n_slots).map(|slot| Number(slot).encode()).collect();
        let task = SourceTask::new(task, connector, self.properties.clone(), partitions, config, ports);
        self.ended = Arc::default();
        let ended = self.ended.clone();
        self.sim.spawn(async move {
            let end = task.run().await;
            *ended.lock().unwrap() = Some(end);
        });
    }

    /// Kills whatever runs, as a crash would: nothing of it is polled again.
    pub(super) fn kill(&mut self, seed: u64) {
        let mut sim = Sim::on(self.clock.clone(), seed);
        std::mem::swap(&mut self.sim, &mut sim);
        drop(sim);
        self.wishes = Wishes::new(TargetState::Started);
    }

    pub(super) fn run_for(&mut self, ms: u64) {
        self.sim.run_for(Duration::from_millis(ms));
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.lock().unwrap().is_some()
    }

    /// Runs until the task has ended by itself.
    pub(super) fn end(&mut self) -> TaskEnd {
        let ended = self.ended.clone();
        self.sim.drive(|| ended.lock().unwrap().take())
    }

    /// Runs until the task has failed, and answers with what text.
    pub(super) fn failure(&mut self) -> String {
        match self.end() {
            TaskEnd::Failed(error) => error.chain(),
            TaskEnd::Stopped => panic!("stopped"),
        }
    }

    /// Asks for a stop and runs until it is done.
    pub(super) fn stop(&mut self) {
        self.wishes.wish(TargetState::Stopped);
        match self.end() {
            TaskEnd::Stopped => {}
            TaskEnd::Failed(error) => panic!("failed: {}", error.chain()),
        }
        self.wishes.wish(TargetState::Started);
    }

    /// The stored offset of a slot.
    pub(super) fn stored(&self, slot: i64) -> Option<i64> {
        self.offsets.get(&Number(slot).encode()).map(|o| Number::decode(&o).unwrap().0)
    }

    pub(super) fn shared(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }
}
