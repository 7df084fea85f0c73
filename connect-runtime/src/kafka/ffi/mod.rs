//! The only unsafe code of the workspace: librdkafka's functions that the rdkafka crate does not wrap, or wraps at a
//! price per record. Nothing here decides anything; what leaves this folder is safe to use.

#![expect(unsafe_code, reason = "calls into librdkafka's C interface")]

mod admin;
mod event;
mod group;
mod message;
mod partitions;
mod produce;
mod transaction;

use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_void},
    ptr::NonNull,
    sync::Arc,
    thread::Thread,
    time::Duration,
};

use rdkafka::{
    client::{Client as NativeClient, DefaultClientContext},
    config::{ClientConfig as NativeConfig, RDKafkaLogLevel},
    error::{KafkaError as NativeError, RDKafkaErrorCode},
};
use rdkafka_sys as sys;

pub(super) use admin::NewTopic;
pub(super) use event::{Delivery, Event, EventKind};
pub(super) use message::{Message, Messages};
pub(super) use partitions::{OFFSET_INVALID, Partitions};
pub(super) use produce::{Headers, Plain, Producer, Topic};
pub(super) use transaction::TransactionFailure;

/// librdkafka's word for "whichever partition the partitioner chooses".
const PARTITION_UA: i32 = -1;

/// What a client is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Producer,
    Consumer,
}

/// A librdkafka client. Everything that hangs on it holds a reference, so that it is destroyed last.
pub(super) struct Client {
    native: NativeClient<DefaultClientContext>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

/// The outcome of a call that librdkafka answers with a code only.
pub(super) type CodeResult<T> = Result<T, RDKafkaErrorCode>;

impl Client {
    /// Creates a client; its threads start at once, connections follow.
    pub(super) fn new(role: Role, entries: &BTreeMap<String, String>) -> Result<Arc<Self>, NativeError> {
        let mut config = NativeConfig::new();
        // Which lines are worth showing is decided where they arrive; debugging lines come only if asked for.
        let debugging = entries.contains_key("debug");
        config.set_log_level(if debugging { RDKafkaLogLevel::Debug } else { RDKafkaLogLevel::Info });
        for (key, value) in entries {
            config.set(key, value);
        }
        let native = config.create_native_config()?;
        let events = sys::RD_KAFKA_EVENT_DR
            | sys::RD_KAFKA_EVENT_ERROR
            | sys::RD_KAFKA_EVENT_REBALANCE
            | sys::RD_KAFKA_EVENT_OFFSET_COMMIT
            | sys::RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH;
        // SAFETY: the configuration is alive and not yet given to a client.
        unsafe { sys::rd_kafka_conf_set_events(native.ptr(), events) };
        let kind = match role {
            Role::Producer => sys::rd_kafka_type_t::RD_KAFKA_PRODUCER,
            Role::Consumer => sys::rd_kafka_type_t::RD_KAFKA_CONSUMER,
        };
        let native = NativeClient::new(&config, native, kind, DefaultClientContext)?;
        Ok(Arc::new(Self { native }))
    }

    /// The crate's wrapper, for what it does well: metadata, watermarks, cluster id, the mock cluster.
    pub(super) fn native(&self) -> &NativeClient<DefaultClientContext> {
        &self.native
    }

    fn rk(&self) -> *mut sys::rd_kafka_t {
        self.native.native_ptr()
    }

    /// The queue of delivery reports, errors, log lines and token requests.
    pub(super) fn main_queue(self: &Arc<Self>) -> Queue {
        // SAFETY: the client is alive; the call adds a reference to its queue.
        let queue = unsafe { sys::rd_kafka_queue_get_main(self.rk()) };
        Queue::new(self, queue).expect("a client always has a main queue")
    }

    /// The queue of a group member: rebalances, and all that the main queue carries. `None` without a group.
    pub(super) fn consumer_queue(self: &Arc<Self>) -> Option<Queue> {
        // SAFETY: the client is alive; both calls only touch its queues.
        let queue = unsafe {
            sys::rd_kafka_poll_set_consumer(self.rk());
            sys::rd_kafka_queue_get_consumer(self.rk())
        };
        Queue::new(self, queue)
    }

    /// A new, empty queue.
    pub(super) fn new_queue(self: &Arc<Self>) -> Queue {
        // SAFETY: the client is alive.
        let queue = unsafe { sys::rd_kafka_queue_new(self.rk()) };
        Queue::new(self, queue).expect("librdkafka aborts when it is out of memory")
    }

    /// Asks librdkafka to send what is queued without waiting for more; returns at once.
    pub(super) fn flush_now(&self) {
        // SAFETY: the client is alive. A time-out is the expected answer: nobody waits here.
        let _still_in_flight = unsafe { sys::rd_kafka_flush(self.rk(), 0) };
    }

    /// Records, events and requests that are still inside the client.
    pub(super) fn n_in_flight(&self) -> usize {
        // SAFETY: the client is alive.
        usize::try_from(unsafe { sys::rd_kafka_outq_len(self.rk()) }).unwrap_or(0)
    }

    /// Gives up all records that are not acknowledged yet.
    pub(super) fn purge(&self) {
        let all = sys::RD_KAFKA_PURGE_F_QUEUE | sys::RD_KAFKA_PURGE_F_INFLIGHT | sys::RD_KAFKA_PURGE_F_NON_BLOCKING;
        // SAFETY: the client is alive; the flags are librdkafka's own.
        let _answer = unsafe { sys::rd_kafka_purge(self.rk(), all) };
    }

    /// Gives up all records that are not on their way to a broker yet.
    pub(super) fn purge_queued(&self) {
        let queued = sys::RD_KAFKA_PURGE_F_QUEUE | sys::RD_KAFKA_PURGE_F_NON_BLOCKING;
        // SAFETY: as above.
        let _answer = unsafe { sys::rd_kafka_purge(self.rk(), queued) };
    }

    /// Answers a request for an OAUTHBEARER token.
    pub(super) fn set_oauth_token(&self, token: &str, principal: &str, expires_ms: i64) -> Result<(), String> {
        let (Ok(token), Ok(principal)) = (CString::new(token), CString::new(principal)) else {
            return Err("the token or its principal holds a NUL character".to_owned());
        };
        let mut text = [0_u8; 512];
        // SAFETY: all pointers are valid for the call, which copies what it keeps.
        let code = unsafe {
            sys::rd_kafka_oauthbearer_set_token(
                self.rk(),
                token.as_ptr(),
                expires_ms,
                principal.as_ptr(),
                std::ptr::null_mut(),
                0,
                text.as_mut_ptr().cast::<c_char>(),
                text.len(),
            )
        };
        if is_ok(code) { Ok(()) } else { Err(text_of_buffer(&text)) }
    }

    /// Says that no token could be had; librdkafka asks again in 10 seconds.
    pub(super) fn set_oauth_failure(&self, why: &str) {
        let why = CString::new(why.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the text is valid for the call, which copies it.
        let _code = unsafe { sys::rd_kafka_oauthbearer_set_token_failure(self.rk(), why.as_ptr()) };
    }

    /// The delay of a mock cluster between the first member's join and its assignment (3 s unless set).
    pub(super) fn set_mock_rebalance_delay(&self, delay_ms: i32) {
        // SAFETY: the client is alive; a null answer means that it owns no mock cluster.
        unsafe {
            let cluster = sys::rd_kafka_handle_mock_cluster(self.rk());
            if !cluster.is_null() {
                sys::rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, delay_ms);
            }
        }
    }
}

/// A queue of events or messages.
pub(super) struct Queue {
    queue: NonNull<sys::rd_kafka_queue_t>,
    /// Unparked when something comes into the empty queue; librdkafka holds a pointer to it.
    wakes: Option<Box<Thread>>,
    /// Destroyed after the queue.
    _client: Arc<Client>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Queue")
    }
}

// SAFETY: librdkafka's queues may be used from any thread.
unsafe impl Send for Queue {}

unsafe extern "C" fn unpark(_rk: *mut sys::rd_kafka_t, thread: *mut c_void) {
    // SAFETY: `Queue::wake` passed a pointer to a `Thread` that lives until the callback is taken away.
    unsafe { &*thread.cast::<Thread>() }.unpark();
}

impl Queue {
    fn new(client: &Arc<Client>, queue: *mut sys::rd_kafka_queue_t) -> Option<Self> {
        NonNull::new(queue).map(|queue| Self { queue, wakes: None, _client: Arc::clone(client) })
    }

    fn ptr(&self) -> *mut sys::rd_kafka_queue_t {
        self.queue.as_ptr()
    }

    /// Unparks `thread` whenever the queue stops being empty. Empty the queue once after this call.
    pub(super) fn wake(&mut self, thread: Thread) {
        let thread = Box::new(thread);
        let opaque = std::ptr::from_ref::<Thread>(&thread).cast_mut().cast::<c_void>();
        // SAFETY: the box lives until the callback is replaced or taken away, which the queue's lock orders.
        unsafe { sys::rd_kafka_queue_cb_event_enable(self.ptr(), Some(unpark), opaque) };
        self.wakes = Some(thread);
    }

    /// The next event, waited for up to `timeout`.
    pub(super) fn poll(&self, timeout: Duration) -> Option<Event> {
        // SAFETY: the queue is alive; the event that it gives is owned by us.
        Event::new(unsafe { sys::rd_kafka_queue_poll(self.ptr(), millis(timeout)) })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the callback goes before the thread that it names, the reference to the queue before the client.
        unsafe {
            if self.wakes.is_some() {
                sys::rd_kafka_queue_cb_event_enable(self.ptr(), None, std::ptr::null_mut());
            }
            sys::rd_kafka_queue_destroy(self.ptr());
        }
    }
}

fn is_ok(code: sys::rd_kafka_resp_err_t) -> bool {
    code == sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR
}

fn check(code: sys::rd_kafka_resp_err_t) -> CodeResult<()> {
    if is_ok(code) { Ok(()) } else { Err(code.into()) }
}

/// The code of an error object, which is freed.
fn check_object(error: *mut sys::rd_kafka_error_t) -> CodeResult<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the object is alive and ours; it is read before it is freed.
    let code = unsafe {
        let code = sys::rd_kafka_error_code(error);
        sys::rd_kafka_error_destroy(error);
        code
    };
    Err(code.into())
}

fn millis(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX)
}

fn text_of_buffer(buffer: &[u8]) -> String {
    CStr::from_bytes_until_nul(buffer).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A copy of a text of librdkafka's; empty for null.
///
/// # Safety
/// `text` is null or ends with NUL and lives for the call.
unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A topic's name as C wants it. Kafka's names hold no NUL; one that does names no topic, and the broker says so.
fn c_name(name: &str) -> CString {
    CString::new(name).unwrap_or_else(|_| CString::new(name.replace('\0', "?")).unwrap_or_default())
}
