//! Lists of partitions with offsets.

use std::{ffi::CStr, fmt, ptr::NonNull};

use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;

use super::{c_name, is_ok};

/// librdkafka's word for "no offset".
pub(in super::super) const OFFSET_INVALID: i64 = sys::RD_KAFKA_OFFSET_INVALID as i64;

/// One entry of a [`Partitions`] list.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct PartitionOffset<'a> {
    pub(in super::super) topic: &'a str,
    pub(in super::super) partition: i32,
    pub(in super::super) offset: i64,
    pub(in super::super) error: Option<RDKafkaErrorCode>,
}

/// A list that librdkafka reads and fills.
pub(in super::super) struct Partitions {
    list: NonNull<sys::rd_kafka_topic_partition_list_t>,
}

// SAFETY: a list belongs to one owner at a time and has no ties to a thread or a client.
unsafe impl Send for Partitions {}

impl Partitions {
    /// An empty list.
    pub(in super::super) fn new() -> Self {
        // SAFETY: the call has no preconditions.
        let list = unsafe { sys::rd_kafka_topic_partition_list_new(8) };
        Self { list: NonNull::new(list).expect("librdkafka aborts when it is out of memory") }
    }

    /// A copy of a list of librdkafka's; empty for null.
    ///
    /// # Safety
    /// `list` is null or alive during the call.
    pub(super) unsafe fn copied(list: *const sys::rd_kafka_topic_partition_list_t) -> Self {
        if list.is_null() {
            return Self::new();
        }
        // SAFETY: as the caller promises.
        let list = unsafe { sys::rd_kafka_topic_partition_list_copy(list) };
        Self { list: NonNull::new(list).expect("librdkafka aborts when it is out of memory") }
    }

    pub(super) fn ptr(&self) -> *mut sys::rd_kafka_topic_partition_list_t {
        self.list.as_ptr()
    }

    /// Adds an entry.
    pub(in super::super) fn add(&mut self, topic: &str, partition: i32, offset: i64) {
        let topic = c_name(topic);
        // SAFETY: the list is ours; the name is copied by the call, and the entry is written before the list changes
        // again.
        unsafe {
            let entry = sys::rd_kafka_topic_partition_list_add(self.ptr(), topic.as_ptr(), partition);
            (*entry).offset = offset;
        }
    }

    /// How many entries there are.
    pub(in super::super) fn len(&self) -> usize {
        // SAFETY: the list is ours.
        usize::try_from(unsafe { self.list.as_ref() }.cnt).unwrap_or(0)
    }

    /// Whether there is none.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries in order.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = PartitionOffset<'_>> {
        // SAFETY: the list is ours, has `cnt` entries, and no entry is changed while it is borrowed. Kafka's topic names
        // are ASCII; another text would show as empty.
        let entries = unsafe {
            let list = self.list.as_ref();
            if list.elems.is_null() { &[] } else { std::slice::from_raw_parts(list.elems, self.len()) }
        };
        entries.iter().map(|entry| PartitionOffset {
            // SAFETY: every entry has a name that ends with NUL and lives as long as the list.
            topic: unsafe { CStr::from_ptr(entry.topic) }.to_str().unwrap_or_default(),
            partition: entry.partition,
            offset: entry.offset,
            error: if is_ok(entry.err) { None } else { Some(entry.err.into()) },
        })
    }
}

impl fmt::Debug for Partitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Drop for Partitions {
    fn drop(&mut self) {
        // SAFETY: the list is ours.
        unsafe { sys::rd_kafka_topic_partition_list_destroy(self.ptr()) };
    }
}
