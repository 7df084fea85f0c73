//! Records for a sink, sent little by little by a thread of its own.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};

use super::plan::Shape;
use crate::cluster::Cluster;
use crate::connectors::numbers::value;

const POLL: Duration = Duration::from_millis(1);
/// The broker may be killed and restarted meanwhile.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(60);

/// What is fed.
#[derive(Debug, Clone)]
pub struct Feed {
    /// The topic.
    pub topic: String,
    /// Its partitions.
    pub partitions: Range<u64>,
    /// The series of partition 0.
    pub first_series: u64,
}

/// Sends record `i` of a series to offset `i` of its partition.
#[derive(Debug)]
pub struct Feeder {
    thread: Option<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl Feeder {
    /// Begins to send.
    pub fn start(cluster: &Cluster, what: Feed, shape: &Shape) -> Self {
        let mut config = cluster.client_config();
        config.set("enable.idempotence", "true").set("linger.ms", "1").set("message.timeout.ms", "0");
        let producer: BaseProducer = config.create().expect("the client properties are valid");
        let shape = shape.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || feed(&producer, &what, &shape, &stopped));
        Self { thread: Some(thread), stop }
    }

    /// Waits until everything is sent.
    pub fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("every record is acknowledged");
        }
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// The value of a record.
pub fn fed(shape: &Shape, series: i32, i: i64) -> String {
    value(i64::from(series), i, usize::try_from(shape.record_bytes).unwrap_or(0))
}

fn feed(producer: &BaseProducer, what: &Feed, shape: &Shape, stop: &AtomicBool) {
    let mut i = 0;
    while i < shape.records && !stop.load(Ordering::Relaxed) {
        let until = (i + shape.poll_records).min(shape.records);
        for number in i..until {
            for p in what.partitions.clone() {
                let int = |number: u64| i32::try_from(number).expect("few partitions");
                let text = fed(shape, int(what.first_series + p), i64::try_from(number).unwrap_or(i64::MAX));
                let mut record = BaseRecord::<(), _>::to(&what.topic).partition(int(p)).payload(text.as_bytes());
                loop {
                    match producer.send(record) {
                        Ok(()) => break,
                        Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => record = back,
                        Err((error, _)) => panic!("a record cannot be sent: {error}"),
                    }
                    producer.poll(POLL);
                }
            }
        }
        i = until;
        let next = Instant::now() + Duration::from_millis(shape.pause_ms);
        while Instant::now() < next {
            producer.poll(next.saturating_duration_since(Instant::now()));
        }
    }
    if !stop.load(Ordering::Relaxed) {
        producer.flush(FLUSH_TIMEOUT).expect("every record is acknowledged");
    }
}
