//! Messages of a consumer, read in batches from a queue.

use std::{
    ffi::{CStr, c_char, c_void},
    marker::PhantomData,
};

use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;

use super::{CodeResult, Queue, is_ok, text_of};

/// Messages that belong to librdkafka until they are dropped; held no longer than it takes to copy them, because a held
/// message keeps its client from being destroyed.
pub(in super::super) struct Messages {
    messages: Vec<*mut sys::rd_kafka_message_t>,
}

// SAFETY: the messages are ours alone, and librdkafka takes them back on any thread.
unsafe impl Send for Messages {}

impl Messages {
    pub(in super::super) fn new() -> Self {
        Self { messages: Vec::new() }
    }

    /// Takes up to `max` messages that are in the queue now, without waiting; answers how many.
    pub(in super::super) fn take(&mut self, queue: &Queue, max: usize) -> CodeResult<usize> {
        self.clear();
        self.messages.reserve(max);
        // SAFETY: the vector has room for `max` pointers, and librdkafka writes as many as it returns; each is owned by
        // us from here on.
        unsafe {
            let n = sys::rd_kafka_consume_batch_queue(queue.ptr(), 0, self.messages.as_mut_ptr(), max);
            let Ok(n) = usize::try_from(n) else { return Err(sys::rd_kafka_last_error().into()) };
            self.messages.set_len(n);
            Ok(n)
        }
    }

    /// The messages in order.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = Message<'_>> {
        // SAFETY: the pointers are valid until `clear`, which needs `&mut self`.
        self.messages.iter().map(|message| Message { message: unsafe { &**message } })
    }

    /// Gives the messages back.
    pub(in super::super) fn clear(&mut self) {
        for message in self.messages.drain(..) {
            // SAFETY: each message is ours and given back once.
            unsafe { sys::rd_kafka_message_destroy(message) };
        }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.clear();
    }
}

/// One message, or an error of a partition in its place.
#[derive(Clone, Copy)]
pub(in super::super) struct Message<'a> {
    message: &'a sys::rd_kafka_message_t,
}

impl<'a> Message<'a> {
    /// The error that stands in the place of a message, with its text.
    pub(in super::super) fn error(self) -> Option<(RDKafkaErrorCode, String)> {
        if is_ok(self.message.err) {
            return None;
        }
        // SAFETY: the message is alive, and so is the text that it leads to.
        Some((self.message.err.into(), unsafe { text_of(sys::rd_kafka_message_errstr(self.message)) }))
    }

    /// Names the topic within this client while one of its partitions is assigned.
    pub(in super::super) fn topic_id(self) -> usize {
        self.message.rkt as usize
    }

    /// The topic's name.
    pub(in super::super) fn topic(self) -> &'a str {
        if self.message.rkt.is_null() {
            return "";
        }
        // SAFETY: the topic lives as long as the message; Kafka's topic names are ASCII.
        unsafe { CStr::from_ptr(sys::rd_kafka_topic_name(self.message.rkt)) }.to_str().unwrap_or_default()
    }

    pub(in super::super) fn partition(self) -> i32 {
        self.message.partition
    }

    pub(in super::super) fn offset(self) -> i64 {
        self.message.offset
    }

    pub(in super::super) fn key(self) -> Option<&'a [u8]> {
        bytes(self.message.key, self.message.key_len, PhantomData)
    }

    pub(in super::super) fn value(self) -> Option<&'a [u8]> {
        bytes(self.message.payload, self.message.len, PhantomData)
    }

    /// Milliseconds since 1970.
    pub(in super::super) fn timestamp(self) -> Option<i64> {
        let mut kind = sys::rd_kafka_timestamp_type_t::RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
        // SAFETY: the message is alive.
        let at = unsafe { sys::rd_kafka_message_timestamp(self.message, &raw mut kind) };
        (at >= 0).then_some(at)
    }

    /// Calls `each` with the name and value of every header, in order; names need not be UTF-8.
    pub(in super::super) fn headers(self, mut each: impl FnMut(&[u8], Option<&[u8]>)) {
        let mut headers = std::ptr::null_mut();
        // SAFETY: the message is alive and owns the headers that it gives.
        if !is_ok(unsafe { sys::rd_kafka_message_headers(self.message, &raw mut headers) }) {
            return;
        }
        for index in 0.. {
            let (mut name, mut value, mut len) = (std::ptr::null::<c_char>(), std::ptr::null::<c_void>(), 0);
            // SAFETY: the headers are alive; the call ends with an error behind the last one.
            let code =
                unsafe { sys::rd_kafka_header_get_all(headers, index, &raw mut name, &raw mut value, &raw mut len) };
            if !is_ok(code) {
                return;
            }
            // SAFETY: the name ends with NUL and lives as long as the headers.
            let name = unsafe { CStr::from_ptr(name) }.to_bytes();
            each(name, bytes(value, len, PhantomData));
        }
    }
}

/// The bytes at a place that lives as long as `_alive` says; `None` for null.
fn bytes(start: *const c_void, len: usize, _alive: PhantomData<&()>) -> Option<&[u8]> {
    if start.is_null() {
        return None;
    }
    // SAFETY: callers pass a start and length of librdkafka's that stay valid for that time.
    Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) })
}
