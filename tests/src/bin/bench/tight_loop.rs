//! The client library and nothing else: what a worker could reach at best. Each loop runs in a process of its own.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use rdkafka::{ClientContext, Offset, TopicPartitionList};

use crate::batch_queue::BatchQueue;

const BUFFER_BYTES: usize = 1 << 20;
/// How many records are handed over between two looks at acknowledgements.
const RECORDS_PER_POLL: usize = 256;
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
const POLL_TIMEOUT: Duration = Duration::from_millis(100);
const FLUSH_TIMEOUT: Duration = Duration::from_secs(60);

/// The worker's tuned settings.
pub(crate) const PRODUCER: [(&str, &str); 5] = [
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

/// Writes each line of a file to a topic.
pub(crate) fn produce(bootstrap: &str, topic: &str, file: &Path) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap);
    for (key, value) in PRODUCER {
        config.set(key, value);
    }
    let producer: BaseProducer<Failing> = config.create_with_context(Failing).expect("the client properties are valid");
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
        }
        line.clear();
    }
    producer.flush(FLUSH_TIMEOUT).expect("every record is acknowledged in time");
}

/// Writes each record of a topic's only partition to a file, as a line, until `records` are written.
pub(crate) fn consume(bootstrap: &str, topic: &str, file: &Path, records: u64) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap).set("group.id", connect_tests::unique("loop"));
    config.set("enable.auto.commit", "false").set("fetch.queue.backoff.ms", "10");
    let consumer: BaseConsumer = config.create().expect("the client properties are valid");
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
