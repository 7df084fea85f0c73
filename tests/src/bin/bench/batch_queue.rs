//! Fetching by whole batches from librdkafka's queue of one partition, which the Rust client does not offer: the fastest
//! way to consume, and so the measure for the worker's sinks.
#![expect(unsafe_code, reason = "the Rust client has no batch consumption; the calls of librdkafka are made here")]

use std::ffi::CString;
use std::slice;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka_sys::bindings as sys;

const BATCH_RECORDS_MAX: usize = 1_000;

/// The queue of partition 0 of a topic, taken away from the consumer's own queue.
pub(crate) struct BatchQueue<'c> {
    queue: *mut sys::rd_kafka_queue_t,
    messages: Vec<*mut sys::rd_kafka_message_t>,
    /// The queue must be given back before the consumer is destroyed.
    _consumer: &'c BaseConsumer,
}

impl<'c> BatchQueue<'c> {
    /// The partition must be assigned to the consumer already.
    pub(crate) fn new(consumer: &'c BaseConsumer, topic: &str) -> Self {
        let topic = CString::new(topic).expect("topic names hold no zero byte");
        // SAFETY: the client handle is valid as long as the consumer, which is borrowed; the topic is a C string.
        let queue = unsafe { sys::rd_kafka_queue_get_partition(consumer.client().native_ptr(), topic.as_ptr(), 0) };
        assert!(!queue.is_null(), "the partition has a queue");
        // SAFETY: the queue is valid until it is destroyed in `drop`; forwarding to nowhere is allowed.
        unsafe { sys::rd_kafka_queue_forward(queue, std::ptr::null_mut()) };
        Self { queue, messages: Vec::with_capacity(BATCH_RECORDS_MAX), _consumer: consumer }
    }

    /// Waits up to `timeout` and hands each value to `each`; returns how many there were.
    ///
    /// # Panics
    /// The broker reports an error for the partition.
    pub(crate) fn consume(&mut self, timeout: Duration, mut each: impl FnMut(&[u8])) -> u64 {
        let timeout_ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: the vector has room for as many pointers as are asked for, and exactly the returned number is filled.
        let count = unsafe {
            let messages = self.messages.as_mut_ptr();
            let count = sys::rd_kafka_consume_batch_queue(self.queue, timeout_ms, messages, BATCH_RECORDS_MAX);
            let count = usize::try_from(count).unwrap_or(0);
            self.messages.set_len(count);
            count
        };
        for &message in &self.messages {
            // SAFETY: librdkafka gave the message to us; it is valid until it is destroyed, which happens once, here.
            unsafe {
                assert!((*message).err as i32 == 0, "the partition cannot be read: error {}", (*message).err as i32);
                if !(*message).payload.is_null() {
                    each(slice::from_raw_parts((*message).payload.cast(), (*message).len));
                }
                sys::rd_kafka_message_destroy(message);
            }
        }
        self.messages.clear();
        count as u64
    }
}

impl Drop for BatchQueue<'_> {
    fn drop(&mut self) {
        // SAFETY: the queue was obtained in `new` and is destroyed only here.
        unsafe { sys::rd_kafka_queue_destroy(self.queue) };
    }
}
