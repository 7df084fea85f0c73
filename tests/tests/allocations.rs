//! Goal: a record on its way costs no allocation that its result does not need. Method: an allocator that counts, alone in
//! this program; for a whole task, twice as many records in as many polls, so that what a poll costs cancels out.
#![forbid(unsafe_code)]

use allocation_counter::measure;
use bytes::Bytes;
use connect_runtime::converters;
use connect_runtime::transforms::{Chain, Stage, classes};
use connect_sdk::converter::{BoxConverter, ConverterKind};
use connect_sdk::data::{Schema, SchemaAndValue, SchemaBuilder, Struct, Text, Value};
use connect_sdk::erased::{BoxFuture, DynSourceConnector, DynTransformation, Properties, SourceDescriptor};
use connect_sdk::prelude::*;
use connect_sdk::source::PayloadRef;
use connect_sdk::task::ports::{Ack, ProduceBatch, RecordProducer, TargetState, TopicEnsurer, TopicLimits};
use connect_sdk::task::source::{SourcePorts, SourceProducer, SourceTask, SourceTaskConfig, SourceWorkerValues};
use connect_sdk::task::{Converters, TaskInfo};
use connect_sdk::testkit::{MemoryOffsets, Reports, Sim, Wishes};
use connect_sdk::transform::ConnectRecord;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

const JSON: &str = "org.apache.kafka.connect.json.JsonConverter";
const RECORDS: u64 = 1000;

fn properties(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn chain(stages: &[(&str, &[(&str, &str)])]) -> Chain {
    let stages = stages.iter().map(|(name, settings)| {
        let class = classes().into_iter().find(|class| class.class.ends_with(name)).expect("Kafka has the class");
        let transformation = (class.make)(&properties(settings)).expect("the settings are right");
        Stage { alias: (*name).to_owned(), class: class.class, transformation, condition: None }
    });
    Chain::new(stages.collect())
}

/// HoistField and two InsertField.
fn hoist_and_insert() -> Chain {
    chain(&[
        ("HoistField$Value", &[("field", "line")]),
        ("InsertField$Value", &[("static.field", "origin"), ("static.value", "a text that is not short")]),
        ("InsertField$Value", &[("topic.field", "topic!"), ("timestamp.field", "at")]),
    ])
}

fn json(pairs: &[(&str, &str)]) -> BoxConverter {
    let class = converters::classes().into_iter().find(|class| class.class == JSON).expect("it is linked");
    class.converter.expect("it converts values")(&properties(pairs), ConverterKind::Value)
        .expect("the settings are right")
}

fn record(topic: &Text, value: SchemaAndValue) -> ConnectRecord {
    ConnectRecord { topic: topic.clone(), timestamp: Some(1), value, ..ConnectRecord::default() }
}

/// `{name: .., amount: ..}` of one schema.
fn order(schema: &Schema) -> SchemaAndValue {
    let mut value = Struct::new(schema.clone()).expect("it is the schema of a struct");
    value.put("name", Text::from_static("Ann")).expect("it fits").put("amount", 5).expect("it fits");
    SchemaAndValue::new(Some(schema.clone()), Some(value.into()))
}

fn order_schema() -> Schema {
    SchemaBuilder::struct_().field("name", Schema::string()).field("amount", Schema::int32()).build().expect("sound")
}

/// How many allocations each record takes on its way through a chain and JsonConverter with schemas, after the first one.
fn per_record(mut chain: Chain, make: impl Fn(u64) -> SchemaAndValue) -> f64 {
    let converter = json(&[]);
    let topic = Text::from("orders");
    let mut out = Vec::with_capacity(1 << 20);
    let mut send = |value: SchemaAndValue| {
        let changed = chain.apply(record(&topic, value)).expect("it fits").expect("none is dropped").value;
        let payload = PayloadRef::Value(changed.schema.as_ref(), changed.value.as_ref());
        assert!(converter.write(&topic, payload, &mut out).expect("it can be written"));
    };
    // What is worked out for a schema, and remembered.
    (0..2).for_each(|number| send(make(number)));
    let values: Vec<SchemaAndValue> = (0..RECORDS).map(make).collect();
    let counted = measure(|| values.into_iter().for_each(&mut send));
    counted.count_total as f64 / RECORDS as f64
}

#[test]
fn allocations_are_counted() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![1u8]))).count_total, 1);
    assert_eq!(measure(|| ()).count_total, 0);
}

#[test]
fn a_record_with_a_schema_costs_only_the_struct_that_the_chain_makes() {
    let text = |_| SchemaAndValue::new(Some(Schema::string()), Some(Value::from(Text::from_static("a line"))));
    assert_eq!(per_record(hoist_and_insert(), text), 1.0, "text");
    let schema = order_schema();
    assert_eq!(per_record(hoist_and_insert(), |_| order(&schema)), 1.0, "a struct");
    // Equal schemas, each made anew, are the same one to the caches.
    let schemas: Vec<Schema> = (0..RECORDS).map(|_| order_schema()).collect();
    let of_one_of = |number: u64| order(&schemas[usize::try_from(number).expect("few")]);
    assert_eq!(per_record(hoist_and_insert(), of_one_of), 1.0, "a struct with a schema of its own");
}

#[test]
fn transformations_that_change_values_in_place_cost_nothing() {
    let schema = order_schema();
    for (class, settings, expected) in [
        ("SetSchemaMetadata$Value", &[("schema.name", "Order")][..], 0.0),
        ("MaskField$Value", &[("fields", "name,amount")], 0.0),
        ("Cast$Value", &[("spec", "amount:int64")], 0.0),
        ("TimestampConverter$Value", &[("field", "other"), ("target.type", "unix")], 0.0),
        ("ExtractField$Value", &[("field", "name")], 0.0),
        ("ReplaceField$Value", &[("exclude", "amount")], 1.0),
        ("Flatten$Value", &[], 1.0),
        ("InsertField$Value", &[("topic.field", "topic")], 1.0),
        // The list of headers.
        ("HeaderFrom$Value", &[("fields", "name"), ("headers", "name"), ("operation", "copy")], 1.0),
        ("ValueToKey", &[("fields", "name")], 1.0),
    ] {
        assert_eq!(per_record(chain(&[(class, settings)]), |_| order(&schema)), expected, "{class}");
    }
}

#[test]
fn a_struct_that_others_hold_is_copied_once() {
    let schema = order_schema();
    let held = order(&schema);
    for (class, settings, expected) in [
        ("InsertField$Value", &[("topic.field", "topic")][..], 1.0),
        ("ReplaceField$Value", &[("exclude", "amount")], 1.0),
        ("Flatten$Value", &[], 1.0),
        ("Cast$Value", &[("spec", "amount:int64")], 1.0),
        ("ExtractField$Value", &[("field", "name")], 0.0),
    ] {
        assert_eq!(per_record(chain(&[(class, settings)]), |_| held.clone()), expected, "{class}");
    }
}

#[test]
fn a_message_with_a_schema_costs_only_its_struct_to_be_read() {
    let converter = json(&[]);
    let schema = order_schema();
    let mut text = Vec::new();
    let value = order(&schema);
    let payload = PayloadRef::Value(value.schema.as_ref(), value.value.as_ref());
    converter.write("orders", payload, &mut text).expect("it can be written");
    let text = Bytes::from(text);
    let read = || converter.read("orders", Some(&text)).expect("it can be read");
    assert_eq!((read(), read()), (value.clone(), value));
    let mut values = Vec::with_capacity(usize::try_from(RECORDS).expect("few"));
    let counted = measure(|| (0..RECORDS).for_each(|_| values.push(read())));
    assert_eq!(counted.count_total as f64 / RECORDS as f64, 1.0);
}

/// The settings of [`Lines`].
#[derive(Debug, Clone, ConnectorConfig)]
pub struct LinesConfig {
    /// How many polls give records.
    polls: u32,
    /// How many records each of them gives.
    poll_records: u32,
}

/// The only partition.
#[derive(Debug, Clone, PartialEq, Eq, SourcePartition)]
pub struct Only {
    /// A name.
    pub name: String,
}

/// Where to go on.
#[derive(Debug, Clone, PartialEq, Eq, SourceOffset)]
pub struct Next {
    /// The number of the next record.
    pub next: i64,
}

/// A source of lines with a key and a header.
#[derive(Debug)]
pub struct Lines {
    cursor: Cursor<Only, Next>,
    cfg: LinesConfig,
}

/// Lines.
#[source_connector(name = "lines", exactly_once = supported(untested = "it counts allocations"))]
impl Source for Lines {
    type Config = LinesConfig;
    type Partition = Only;
    type Offset = Next;

    async fn partitions(_: &LinesConfig) -> Result<Vec<Only>> {
        Ok(vec![Only { name: "only".to_owned() }])
    }

    async fn open(cfg: &LinesConfig, at: Cursors<Only, Next>) -> Result<Self> {
        Ok(Self { cursor: at.only()?, cfg: cfg.clone() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        if self.cfg.polls == 0 {
            std::future::pending::<()>().await;
        }
        self.cfg.polls -= 1;
        for _ in 0..self.cfg.poll_records {
            let next = self.cursor.offset().map_or(0, |at| at.next) + 1;
            out.emit(&mut self.cursor, Record::to("lines").key("a key").value("a line of text"), Next { next });
        }
        Ok(())
    }
}

/// Takes everything and says at once that it is delivered.
#[derive(Debug, Clone, Default)]
struct Everything {
    n_records: Arc<AtomicUsize>,
    acks: Arc<Mutex<Vec<Ack>>>,
    spent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl RecordProducer for Everything {
    fn poll_send(&mut self, _: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>> {
        let ProduceBatch { first_seq, buffers, records, .. } = batch.take().expect("a batch is handed over");
        let n = u32::try_from(records.len()).expect("few");
        self.acks.lock().expect("nobody panics").push(Ack::Delivered { first: first_seq, n });
        self.spent.lock().expect("nobody panics").extend(buffers);
        self.n_records.fetch_add(records.len(), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }

    fn poll_acks(&mut self, _: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>> {
        let mut acks = self.acks.lock().expect("nobody panics");
        if acks.is_empty() {
            return Poll::Pending;
        }
        into.append(&mut acks);
        Poll::Ready(Ok(()))
    }

    fn hurry(&mut self) {}

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        self.spent.lock().expect("nobody panics").pop()
    }
}

impl TopicEnsurer for Everything {
    fn ensure<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<TopicLimits, TaskError>> {
        Box::pin(async { Ok(TopicLimits { record_bytes_max: 1 << 20 }) })
    }
}

const POLLS: u32 = 8;

/// All allocations of a source task, from its start to its last record.
fn allocations_of_a_task(poll_records: u32, chain: Option<Chain>) -> u64 {
    let settings = properties(&[("polls", &POLLS.to_string()), ("poll.records", &poll_records.to_string())]);
    let connector: Arc<dyn DynSourceConnector> = Arc::new(SourceDescriptor::<Lines>::new());
    let converter = json(&[]);
    let (producer, mut sim) = (Everything::default(), Sim::new(1));
    let ports = SourcePorts {
        clock: Arc::new(sim.clock()),
        producer: SourceProducer::AtLeastOnce(Box::new(producer.clone())),
        topics: Arc::new(producer.clone()),
        offsets: Arc::new(MemoryOffsets::new(sim.clock())),
        commands: Box::new(Wishes::new(TargetState::Started)),
        observer: Arc::new(Reports::new()),
        converters: Converters { key: converter.clone(), value: converter.clone(), header: json_header() },
        chain: chain.map(|chain| Box::new(chain) as Box<dyn DynTransformation>),
        dead_letters: None,
    };
    let only = SourcePartition::__encode(&Only { name: "only".to_owned() });
    let config = SourceTaskConfig::from_properties(&settings, SourceWorkerValues::default()).expect("sound");
    let task = TaskInfo { connector: "lines".to_owned(), index: 0, n_tasks: 1 };
    let task = SourceTask::new(task, connector, settings, vec![only], config, ports);
    let expected = usize::try_from(POLLS * poll_records).expect("few");
    let counted = measure(|| {
        sim.spawn(async {
            let end = task.run().await;
            panic!("it never ends: {end:?}");
        });
        sim.drive(|| (producer.n_records.load(Ordering::Relaxed) == expected).then_some(()));
    });
    counted.count_total
}

fn json_header() -> connect_sdk::converter::BoxHeaderConverter {
    let class = converters::classes().into_iter().find(|class| class.class == JSON).expect("it is linked");
    class.header_converter.expect("it converts headers")(&properties(&[])).expect("the settings are right")
}

#[test]
fn a_source_task_allocates_for_a_record_what_its_chain_makes_and_nothing_else() {
    let (few, many) = (500, 1000);
    let more_records = f64::from(POLLS * (many - few));
    for (expected, chain) in [(0.0, None), (1.0, Some(hoist_and_insert as fn() -> Chain))] {
        let of = |records: u32| allocations_of_a_task(records, chain.map(|make| make())) as f64;
        let each = (of(many) - of(few)) / more_records;
        // Lists that double their room do it once more for twice the records.
        assert!((expected..expected + 0.01).contains(&each), "{each} for a record instead of {expected}");
    }
}
