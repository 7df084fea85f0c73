//! Events of librdkafka's queues.

use std::{ffi::c_char, marker::PhantomData, ptr::NonNull};

use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;

use super::{Partitions, is_ok, text_of};

/// One event; freed when it is dropped.
pub(in super::super) struct Event {
    pub(super) event: NonNull<sys::rd_kafka_event_t>,
    /// Not `Send`: an event is read by the thread that polled it.
    _thread: PhantomData<*mut ()>,
}

/// What an event says.
#[derive(Debug)]
pub(in super::super) enum EventKind {
    /// Delivery reports: read them with [`Event::deliveries`].
    Deliveries,
    /// A line for the log; the level is syslog's.
    Log { level: i32, facility: String, text: String },
    /// Something is wrong with the client or its connections.
    Error { code: RDKafkaErrorCode, fatal: bool, text: String },
    /// A new OAUTHBEARER token is wanted.
    Oauth,
    /// The group gives partitions (true) or takes them.
    Rebalance { assign: bool, partitions: Partitions },
    /// The answer to a commit, with the number that was given to it.
    Committed { number: usize, result: Result<(), RDKafkaErrorCode> },
    /// Of no interest here.
    Other,
}

/// The fate of one record.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Delivery {
    /// What the record was tagged with.
    pub(in super::super) opaque: usize,
    /// Why it was not delivered.
    pub(in super::super) error: Option<RDKafkaErrorCode>,
    pub(in super::super) partition: i32,
    /// Names the topic within this client: see `Topic::id`.
    pub(in super::super) topic: usize,
    /// Bytes of key and value.
    pub(in super::super) len: usize,
}

impl Event {
    pub(super) fn new(event: *mut sys::rd_kafka_event_t) -> Option<Self> {
        NonNull::new(event).map(|event| Self { event, _thread: PhantomData })
    }

    fn ptr(&self) -> *mut sys::rd_kafka_event_t {
        self.event.as_ptr()
    }

    /// Whether this is a batch of delivery reports: the one kind that is frequent.
    pub(in super::super) fn is_deliveries(&self) -> bool {
        // SAFETY: the event is alive.
        unsafe { sys::rd_kafka_event_type(self.ptr()) == sys::RD_KAFKA_EVENT_DR }
    }

    /// Calls `each` for every delivery report of the event, in the broker's order within a partition.
    pub(in super::super) fn deliveries(&mut self, mut each: impl FnMut(Delivery)) {
        loop {
            // SAFETY: the event is alive; the message lives as long as the event and is only read here.
            let message = unsafe { sys::rd_kafka_event_message_next(self.ptr()).as_ref() };
            let Some(message) = message else { return };
            each(Delivery {
                opaque: message._private as usize,
                error: if is_ok(message.err) { None } else { Some(message.err.into()) },
                partition: message.partition,
                topic: message.rkt as usize,
                len: message.len + message.key_len,
            });
        }
    }

    /// Reads the event.
    pub(in super::super) fn kind(&self) -> EventKind {
        let event = self.ptr();
        // SAFETY: the event is alive; every text and list is copied before this returns.
        unsafe {
            match sys::rd_kafka_event_type(event) {
                sys::RD_KAFKA_EVENT_DR => EventKind::Deliveries,
                sys::RD_KAFKA_EVENT_LOG => {
                    let (mut facility, mut text, mut level) =
                        (std::ptr::null::<c_char>(), std::ptr::null::<c_char>(), 0);
                    if sys::rd_kafka_event_log(event, &raw mut facility, &raw mut text, &raw mut level) != 0 {
                        return EventKind::Other;
                    }
                    EventKind::Log { level, facility: text_of(facility), text: text_of(text) }
                }
                sys::RD_KAFKA_EVENT_ERROR => EventKind::Error {
                    code: sys::rd_kafka_event_error(event).into(),
                    fatal: sys::rd_kafka_event_error_is_fatal(event) != 0,
                    text: text_of(sys::rd_kafka_event_error_string(event)),
                },
                sys::RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH => EventKind::Oauth,
                sys::RD_KAFKA_EVENT_REBALANCE => EventKind::Rebalance {
                    assign: sys::rd_kafka_event_error(event)
                        == sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS,
                    partitions: Partitions::copied(sys::rd_kafka_event_topic_partition_list(event)),
                },
                sys::RD_KAFKA_EVENT_OFFSET_COMMIT => {
                    let code = sys::rd_kafka_event_error(event);
                    EventKind::Committed {
                        number: sys::rd_kafka_event_opaque(event) as usize,
                        result: if is_ok(code) { Ok(()) } else { Err(code.into()) },
                    }
                }
                _ => EventKind::Other,
            }
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is ours and nothing borrows from it any more.
        unsafe { sys::rd_kafka_event_destroy(self.ptr()) };
    }
}
