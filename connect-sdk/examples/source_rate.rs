//! What the framework costs a source: nanoseconds a record, from `emit` to the hand-over, the acknowledgement and the
//! stored offset, on a producer that does nothing. Run it with
//! `cargo run --release -p connect-sdk --features testkit --example source_rate`.

use connect_sdk::{
    converter::PassThrough,
    erased::{BoxFuture, DynConverter, Properties, SourceDescriptor},
    prelude::*,
    source::{OffsetMap, PartitionMap, PayloadRef},
    task::{
        Converters, TaskEnd,
        ports::{Ack, Clock, OffsetStore, ProduceBatch, RecordProducer, TargetState, TopicEnsurer, TopicLimits},
        source::{SourcePorts, SourceProducer, SourceTask, SourceTaskConfig, SourceWorkerValues},
    },
    testkit::{Reports, TextConverter, Wishes},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

/// How many records one measurement takes.
const RECORDS: u64 = 5_000_000;

#[derive(ConnectorConfig)]
struct RateConfig {
    /// How many bytes a record has.
    size: usize,
    /// Whether each record has a key.
    keys: bool,
}

#[derive(SourcePartition)]
struct Part {
    name: String,
}

#[derive(SourceOffset)]
struct Line {
    position: i64,
}

struct Lines {
    at: Cursor<Part, Line>,
    line: String,
    keys: bool,
}

/// The same line again and again.
#[source_connector(name = "rate", exactly_once = supported(untested = "it measures"))]
impl Source for Lines {
    type Config = RateConfig;
    type Partition = Part;
    type Offset = Line;

    async fn partitions(_: &RateConfig) -> Result<Vec<Part>> {
        Ok(vec![Part { name: "a".to_owned() }])
    }

    async fn open(cfg: &RateConfig, at: Cursors<Part, Line>) -> Result<Self> {
        Ok(Self { at: at.only()?, line: "x".repeat(cfg.size), keys: cfg.keys })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        while !out.is_full() {
            let position = self.at.offset().map_or(0, |o| o.position) + 100;
            let record = Record::to("lines").value(&*self.line);
            let record = if self.keys { record.key("key") } else { record };
            out.emit(&mut self.at, record, Line { position });
        }
        Ok(())
    }
}

/// Acknowledges at once, in whole batches, and stops the task after enough of them.
struct Nowhere {
    next: u64,
    done: u64,
    spent: Vec<Vec<u8>>,
    wishes: Wishes,
    total: Arc<AtomicU64>,
}

impl RecordProducer for Nowhere {
    fn poll_send(&mut self, _: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<()>> {
        if let Some(batch) = batch.take() {
            self.next = batch.first_seq + batch.records.len() as u64;
            self.spent.extend(batch.buffers.into_iter().filter(|b| b.capacity() > 0).take(1));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_acks(&mut self, _: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<()>> {
        let n = self.next - self.done;
        if n == 0 {
            return Poll::Pending;
        }
        into.push(Ack::Delivered { first: self.done, n: u32::try_from(n).expect("a batch is small") });
        self.done = self.next;
        self.total.store(self.done, Relaxed);
        if self.done >= RECORDS {
            self.wishes.wish(TargetState::Stopped);
        }
        Poll::Ready(Ok(()))
    }

    fn hurry(&mut self) {}

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        self.spent.pop()
    }
}

struct AnyTopic;

impl TopicEnsurer for AnyTopic {
    fn ensure<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<TopicLimits>> {
        Box::pin(std::future::ready(Ok(TopicLimits { record_bytes_max: 1 << 20 })))
    }
}

#[derive(Default)]
struct Stored(Mutex<Option<OffsetMap>>);

impl OffsetStore for Stored {
    fn load(&self, partitions: Vec<PartitionMap>) -> BoxFuture<'_, Result<Vec<Option<OffsetMap>>>> {
        Box::pin(std::future::ready(Ok(vec![None; partitions.len()])))
    }

    fn store(&self, offsets: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<()>> {
        *self.0.lock().expect("nothing panics with the lock") = offsets.into_iter().next().map(|(_, o)| o);
        Box::pin(std::future::ready(Ok(())))
    }
}

struct RealClock(Instant);

impl Clock for RealClock {
    fn now_ms(&self) -> i64 {
        0
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, until: Duration) -> BoxFuture<'static, ()> {
        let at = self.0 + until;
        Box::pin(tokio::time::sleep_until(at.into()))
    }
}

/// Text as it is, without a call for each record.
struct Pass;

impl DynConverter for Pass {
    fn write(&self, topic: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        TextConverter::default().write(topic, value, out)
    }

    fn read(&self, topic: &str, bytes: Option<&bytes::Bytes>) -> Result<SchemaAndValue, DataError> {
        TextConverter::default().read(topic, bytes)
    }

    fn pass_through(&self) -> PassThrough {
        PassThrough { text: true, bytes: true }
    }
}

async fn measure(name: &str, size: usize, keys: bool, converter: Arc<dyn DynConverter>) -> String {
    let properties = Properties::from([("size".to_owned(), size.to_string()), ("keys".to_owned(), keys.to_string())]);
    let (wishes, total) = (Wishes::new(TargetState::Started), Arc::new(AtomicU64::new(0)));
    let producer = Nowhere { next: 0, done: 0, spent: Vec::new(), wishes: wishes.clone(), total: total.clone() };
    let ports = SourcePorts {
        clock: Arc::new(RealClock(Instant::now())),
        producer: SourceProducer::AtLeastOnce(Box::new(producer)),
        topics: Arc::new(AnyTopic),
        offsets: Arc::new(Stored::default()),
        commands: Box::new(wishes),
        observer: Arc::new(Reports::new()),
        converters: Converters { key: converter.clone(), value: converter, header: Arc::new(Pass) },
        chain: None,
        dead_letters: None,
    };
    let config = SourceTaskConfig::from_properties(&properties, SourceWorkerValues::default()).expect("valid");
    let task = TaskInfo { connector: "rate".to_owned(), index: 0, n_tasks: 1 };
    let connector = Arc::new(SourceDescriptor::<Lines>::new());
    let partition = PartitionMap::new().with("name", connect_sdk::source::FieldValue::Text("a".to_owned()));
    let task = SourceTask::new(task, connector, properties, vec![partition], config, ports);
    let started = Instant::now();
    let end = task.run().await;
    let took = started.elapsed();
    if let TaskEnd::Failed(error) = end {
        return format!("{name}: failed: {}", error.chain());
    }
    let n = total.load(Relaxed).max(1);
    format!("{name}: {:.1} ns a record", took.as_nanos() as f64 / n as f64)
}

#[expect(clippy::print_stdout, reason = "its output is what it is for")]
fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        for _ in 0..2 {
            println!("{}", measure("passed through, 100 B", 100, false, Arc::new(Pass)).await);
            println!("{}", measure("passed through, 100 B and a key", 100, true, Arc::new(Pass)).await);
            println!("{}", measure("passed through, 1 KiB", 1024, false, Arc::new(Pass)).await);
            println!(
                "{}",
                measure("written by a converter, 100 B", 100, false, Arc::new(TextConverter::default())).await
            );
        }
    });
    Ok(())
}
