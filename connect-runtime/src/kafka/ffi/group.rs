//! What a consumer does with its partitions: subscription, assignment, positions, commits, leaving.

use std::{
    ffi::{CStr, c_void},
    ptr::null,
    time::Duration,
};

use rdkafka_sys as sys;

use super::{Client, CodeResult, Partitions, Queue, Topic, c_name, check, check_object, millis};

impl Client {
    /// Subscribes to exactly these topics; to none: leaves the group.
    pub(in super::super) fn subscribe(&self, topics: &[impl AsRef<str>]) -> CodeResult<()> {
        // SAFETY: client and list are alive; the list is copied.
        unsafe {
            if topics.is_empty() {
                return check(sys::rd_kafka_unsubscribe(self.rk()));
            }
            let mut list = Partitions::new();
            for topic in topics {
                list.add(topic.as_ref(), super::PARTITION_UA, super::OFFSET_INVALID);
            }
            check(sys::rd_kafka_subscribe(self.rk(), list.ptr()))
        }
    }

    /// Whether assignments come and go in steps instead of as a whole.
    pub(in super::super) fn is_cooperative(&self) -> bool {
        // SAFETY: the client is alive; the answer is null or a constant text.
        unsafe {
            let protocol = sys::rd_kafka_rebalance_protocol(self.rk());
            !protocol.is_null() && CStr::from_ptr(protocol) == c"COOPERATIVE"
        }
    }

    /// Whether the partitions that are being revoked are no longer ours.
    pub(in super::super) fn is_assignment_lost(&self) -> bool {
        // SAFETY: the client is alive.
        unsafe { sys::rd_kafka_assignment_lost(self.rk()) != 0 }
    }

    /// Replaces the assignment.
    pub(in super::super) fn assign(&self, partitions: &Partitions) -> CodeResult<()> {
        // SAFETY: client and list are alive; the list is copied.
        check(unsafe { sys::rd_kafka_assign(self.rk(), partitions.ptr()) })
    }

    /// Gives all partitions up.
    pub(in super::super) fn unassign(&self) -> CodeResult<()> {
        // SAFETY: the client is alive; null means "none".
        check(unsafe { sys::rd_kafka_assign(self.rk(), null()) })
    }

    /// Adds to the assignment.
    pub(in super::super) fn incremental_assign(&self, partitions: &Partitions) -> CodeResult<()> {
        // SAFETY: client and list are alive; the list is copied.
        check_object(unsafe { sys::rd_kafka_incremental_assign(self.rk(), partitions.ptr()) })
    }

    /// Takes away from the assignment.
    pub(in super::super) fn incremental_unassign(&self, partitions: &Partitions) -> CodeResult<()> {
        // SAFETY: client and list are alive; the list is copied.
        check_object(unsafe { sys::rd_kafka_incremental_unassign(self.rk(), partitions.ptr()) })
    }

    /// Delivers a partition's messages to `queue`. Called before the partition is assigned; the forwarding stays.
    pub(in super::super) fn forward(&self, topic: &str, partition: i32, queue: &Queue) {
        let topic = c_name(topic);
        // SAFETY: the client is alive; the reference to the partition's queue is ours and freed after its use.
        unsafe {
            let from = sys::rd_kafka_queue_get_partition(self.rk(), topic.as_ptr(), partition);
            if !from.is_null() {
                sys::rd_kafka_queue_forward(from, queue.ptr());
                sys::rd_kafka_queue_destroy(from);
            }
        }
    }

    /// Moves to the offsets of the list; errors of single partitions are written into it.
    pub(in super::super) fn seek(&self, partitions: &Partitions, timeout: Duration) -> CodeResult<()> {
        // SAFETY: client and list are alive.
        check_object(unsafe { sys::rd_kafka_seek_partitions(self.rk(), partitions.ptr(), millis(timeout)) })
    }

    /// Stops fetching.
    pub(in super::super) fn pause(&self, partitions: &Partitions) -> CodeResult<()> {
        // SAFETY: client and list are alive.
        check(unsafe { sys::rd_kafka_pause_partitions(self.rk(), partitions.ptr()) })
    }

    /// Fetches again.
    pub(in super::super) fn resume(&self, partitions: &Partitions) -> CodeResult<()> {
        // SAFETY: client and list are alive.
        check(unsafe { sys::rd_kafka_resume_partitions(self.rk(), partitions.ptr()) })
    }

    /// Writes into the list the offsets of the messages that would come next; no broker is asked.
    pub(in super::super) fn positions(&self, partitions: &mut Partitions) -> CodeResult<()> {
        // SAFETY: client and list are alive.
        check(unsafe { sys::rd_kafka_position(self.rk(), partitions.ptr()) })
    }

    /// Writes the group's committed offsets into the list.
    pub(in super::super) fn committed(&self, partitions: &mut Partitions, timeout: Duration) -> CodeResult<()> {
        // SAFETY: client and list are alive.
        check(unsafe { sys::rd_kafka_committed(self.rk(), partitions.ptr(), millis(timeout)) })
    }

    /// Replaces timestamps, or librdkafka's words for beginning and end, by offsets.
    pub(in super::super) fn offsets_for_times(&self, partitions: &mut Partitions, timeout: Duration) -> CodeResult<()> {
        // SAFETY: client and list are alive.
        check(unsafe { sys::rd_kafka_offsets_for_times(self.rk(), partitions.ptr(), millis(timeout)) })
    }

    /// Commits in the background; the answer comes to `queue` with `number`.
    pub(in super::super) fn commit(&self, partitions: &Partitions, queue: &Queue, number: usize) -> CodeResult<()> {
        // SAFETY: client, list and queue are alive; the list is copied, the opaque is a number and no pointer.
        check(unsafe {
            sys::rd_kafka_commit_queue(self.rk(), partitions.ptr(), queue.ptr(), None, number as *mut c_void)
        })
    }

    /// The group's name for this member; none, or an empty text, before it is known.
    pub(in super::super) fn member_id(&self) -> Option<String> {
        // SAFETY: the client is alive; the text is ours, ends with a zero byte, and is freed after its use.
        unsafe {
            let id = sys::rd_kafka_memberid(self.rk());
            if id.is_null() {
                return None;
            }
            let text = CStr::from_ptr(id).to_string_lossy().into_owned();
            sys::rd_kafka_mem_free(self.rk(), id.cast());
            Some(text)
        }
    }

    /// Starts to leave the group; rebalance events come to `queue` until [`Self::is_closed`].
    pub(in super::super) fn close(&self, queue: &Queue) -> CodeResult<()> {
        // SAFETY: client and queue are alive.
        check_object(unsafe { sys::rd_kafka_consumer_close_queue(self.rk(), queue.ptr()) })
    }

    /// Whether the group has been left.
    pub(in super::super) fn is_closed(&self) -> bool {
        // SAFETY: the client is alive.
        unsafe { sys::rd_kafka_consumer_closed(self.rk()) != 0 }
    }
}

impl Topic {
    /// Reads a partition without a group, from `offset` on, into `queue`.
    pub(in super::super) fn read(&self, partition: i32, offset: i64, queue: &Queue) -> CodeResult<()> {
        // SAFETY: topic and queue are alive.
        let started = unsafe { sys::rd_kafka_consume_start_queue(self.ptr(), partition, offset, queue.ptr()) };
        if started == 0 {
            return Ok(());
        }
        // SAFETY: reads this thread's last error code.
        Err(unsafe { sys::rd_kafka_last_error() }.into())
    }

    /// Ends the reading; waits until librdkafka's threads have let the partition go.
    pub(in super::super) fn stop_reading(&self, partition: i32) {
        // SAFETY: the topic is alive. A partition that is not read needs no stop.
        let _stopped = unsafe { sys::rd_kafka_consume_stop(self.ptr(), partition) };
    }
}
