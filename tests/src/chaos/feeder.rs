//! Records for a sink, sent little by little by a thread of its own.

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

/// Sends record `i` of partition `p` to offset `i` of partition `p`.
#[derive(Debug)]
pub struct Feeder {
    thread: Option<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl Feeder {
    /// Begins to send.
    pub fn start(cluster: &Cluster, topic: &str, shape: &Shape) -> Self {
        let mut config = cluster.client_config();
        config.set("enable.idempotence", "true").set("linger.ms", "1").set("message.timeout.ms", "0");
        let producer: BaseProducer = config.create().expect("the client properties are valid");
        let (topic, shape) = (topic.to_owned(), shape.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || feed(&producer, &topic, &shape, &stopped));
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
pub fn fed(shape: &Shape, p: i32, i: i64) -> String {
    value(i64::from(p), i, usize::try_from(shape.record_bytes).unwrap_or(0))
}

fn feed(producer: &BaseProducer, topic: &str, shape: &Shape, stop: &AtomicBool) {
    let mut i = 0;
    while i < shape.records && !stop.load(Ordering::Relaxed) {
        let until = (i + shape.poll_records).min(shape.records);
        for number in i..until {
            for p in 0..i32::try_from(shape.partitions).unwrap_or(1) {
                let text = fed(shape, p, i64::try_from(number).unwrap_or(i64::MAX));
                let mut record = BaseRecord::<(), _>::to(topic).partition(p).payload(text.as_bytes());
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
