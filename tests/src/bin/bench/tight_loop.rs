//! The client library and nothing else, with the worker's own client settings: what a worker could reach at best. Each
//! loop runs in a process of its own.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use connect_runtime::kafka;
use connect_tests::{Cluster, Worker, unique};
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use rdkafka::{ClientContext, Offset, TopicPartitionList};

use crate::BUFFER_BYTES;
use crate::batch_queue::BatchQueue;

/// How many records are handed over between two looks at acknowledgements.
const RECORDS_PER_POLL: usize = 256;
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
const POLL_TIMEOUT: Duration = Duration::from_millis(100);
const FLUSH_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause between two looks while the last records of a transaction are on their way.
const DRAIN_PAUSE: Duration = Duration::from_micros(100);

/// The worker's producer settings in Java's keys.
pub(crate) const JAVA_PRODUCER: [(&str, &str); 5] = [
    ("acks", "all"),
    ("enable.idempotence", "true"),
    ("linger.ms", "5"),
    ("batch.size", "1000000"),
    ("max.in.flight.requests.per.connection", "5"),
];

struct Failing;

impl ClientContext for Failing {}

impl ProducerContext for Failing {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, _: usize) {
        if let Err((error, _)) = result {
            panic!("a record was not delivered: {error}");
        }
    }
}

/// The settings that the worker gives to a client of this kind.
fn settings(kind: kafka::ClientKind, own: &[(&str, &str)]) -> ClientConfig {
    let builder = own.iter().fold(kafka::ClientConfig::builder(kind), |builder, (key, value)| builder.set(key, *value));
    let (config, _) = builder.build().expect("the client properties are valid");
    config.natives().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn producer(config: &ClientConfig) -> BaseProducer<Failing> {
    config.create_with_context(Failing).expect("the client properties are valid")
}

/// Starts one of the loops of this program in a process of its own.
pub(crate) fn start_loop(dir: &Path, name: &str, cluster: &Cluster, topic: &str, file: &Path, more: &[&str]) -> Worker {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args([name, cluster.bootstrap(), topic]).arg(file).args(more);
    Worker::run(command, &dir.join("loop.log"))
}

/// Asks for the end of a topic's only partition, markers of transactions included.
pub(crate) fn end_offset(cluster: &Cluster, topic: &str) -> impl FnMut() -> u64 {
    const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
    let mut config = cluster.client_config();
    config.set("isolation.level", "read_uncommitted");
    let consumer: BaseConsumer = config.create().expect("the client properties are valid");
    let topic = topic.to_owned();
    move || {
        let (_, end) = consumer.fetch_watermarks(&topic, 0, REQUEST_TIMEOUT).expect("the broker answers");
        u64::try_from(end).expect("offsets are not negative")
    }
}

/// Hands every line of a file over; `after` is called now and then.
fn send_lines(producer: &BaseProducer<Failing>, topic: &str, file: &Path, mut after: impl FnMut()) {
    let mut lines = BufReader::with_capacity(BUFFER_BYTES, File::open(file).expect("the input can be opened"));
    let mut line = Vec::new();
    let mut number = 0;
    while lines.read_until(b'\n', &mut line).expect("the input can be read") > 0 {
        let value = line.strip_suffix(b"\n").unwrap_or(&line);
        let mut record = BaseRecord::<[u8], [u8], usize>::with_opaque_to(topic, number).payload(value).partition(0);
        while let Err((error, back)) = producer.send(record) {
            let full = error.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull);
            assert!(full, "a record is refused: {error}");
            producer.poll(Duration::from_millis(1));
            record = back;
        }
        number += 1;
        if number % RECORDS_PER_POLL == 0 {
            producer.poll(Duration::ZERO);
            after();
        }
        line.clear();
    }
}

/// Writes each line of a file to a topic.
pub(crate) fn produce(bootstrap: &str, topic: &str, file: &Path) {
    let producer = producer(&settings(kafka::ClientKind::Producer, &[("bootstrap.servers", bootstrap)]));
    send_lines(&producer, topic, file, || {});
    producer.flush(FLUSH_TIMEOUT).expect("every record is acknowledged in time");
}

/// Writes each line of a file to a topic, in transactions that end after this interval.
pub(crate) fn produce_in_transactions(bootstrap: &str, topic: &str, file: &Path, interval: Duration) {
    let mut config = settings(kafka::ClientKind::Producer, &[("bootstrap.servers", bootstrap)]);
    config.remove("message.timeout.ms");
    config.set("enable.idempotence", "true").set("transactional.id", unique("loop"));
    let producer = producer(&config);
    producer.init_transactions(FLUSH_TIMEOUT).expect("the broker answers");
    producer.begin_transaction().expect("none is open");
    let mut begun = Instant::now();
    send_lines(&producer, topic, file, || {
        if begun.elapsed() >= interval {
            commit(&producer);
            producer.begin_transaction().expect("none is open");
            begun = Instant::now();
        }
    });
    commit(&producer);
}

fn commit(producer: &BaseProducer<Failing>) {
    while producer.in_flight_count() > 0 {
        // Sends at once what waits for more; a time-out is the expected answer.
        let _timed_out = producer.flush(Duration::ZERO);
        producer.poll(Duration::ZERO);
        thread::park_timeout(DRAIN_PAUSE);
    }
    producer.commit_transaction(FLUSH_TIMEOUT).expect("the transaction is committed in time");
}

/// Writes each record of a topic's only partition to a file, as a line, until `records` are written.
pub(crate) fn consume(bootstrap: &str, topic: &str, file: &Path, records: u64) {
    let group = unique("loop");
    let own = [("bootstrap.servers", bootstrap), ("group.id", &*group)];
    let consumer: BaseConsumer =
        settings(kafka::ClientKind::Consumer, &own).create().expect("the client properties are valid");
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, Offset::Beginning).expect("the beginning is a valid offset");
    consumer.assign(&list).expect("the partition can be assigned");
    let mut queue = BatchQueue::new(&consumer, topic);
    let mut output = BufWriter::with_capacity(BUFFER_BYTES, File::create(file).expect("the output can be created"));
    let mut n_written = 0;
    let mut synced = Instant::now();
    while n_written < records {
        n_written += queue.consume(POLL_TIMEOUT, |value| {
            output.write_all(value).and_then(|()| output.write_all(b"\n")).expect("the output can be written");
        });
        if synced.elapsed() >= SYNC_INTERVAL {
            output.flush().and_then(|()| output.get_ref().sync_data()).expect("the output can be written");
            synced = Instant::now();
        }
    }
    output.flush().and_then(|()| output.get_ref().sync_data()).expect("the output can be written");
}
