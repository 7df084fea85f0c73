//! Handing records to librdkafka: cached topics, many plain records in one call, others one at a time.

use std::{
    ffi::{c_char, c_void},
    ptr::{NonNull, null_mut},
    sync::Arc,
};

use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use sys::rd_kafka_vtype_t as vtype;

use super::{Client, CodeResult, c_name, check_object, is_ok};

/// librdkafka copies key and value, so that the batch's buffers are free as soon as the call returns.
const FLAGS: i32 = sys::RD_KAFKA_MSG_F_COPY;

/// A topic of a client, looked up once.
pub(in super::super) struct Topic {
    topic: NonNull<sys::rd_kafka_topic_t>,
    /// Destroyed after the topic.
    _client: Arc<Client>,
}

// SAFETY: librdkafka's topics may be used from any thread.
unsafe impl Send for Topic {}

impl Topic {
    /// Looks a topic up; the broker is not asked.
    pub(in super::super) fn new(client: &Arc<Client>, name: &str) -> CodeResult<Self> {
        let name = c_name(name);
        // SAFETY: the client is alive, the name valid for the call.
        let topic = unsafe { sys::rd_kafka_topic_new(client.rk(), name.as_ptr(), null_mut()) };
        match NonNull::new(topic) {
            Some(topic) => Ok(Self { topic, _client: Arc::clone(client) }),
            // SAFETY: reads this thread's last error code.
            None => Err(unsafe { sys::rd_kafka_last_error() }.into()),
        }
    }

    pub(super) fn ptr(&self) -> *mut sys::rd_kafka_topic_t {
        self.topic.as_ptr()
    }

    /// What delivery reports name the topic by.
    pub(in super::super) fn id(&self) -> usize {
        self.topic.as_ptr() as usize
    }
}

impl Drop for Topic {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { sys::rd_kafka_topic_destroy(self.topic.as_ptr()) };
    }
}

/// A record without headers whose timestamp is the time of sending.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Plain<'a> {
    pub(in super::super) partition: Option<i32>,
    pub(in super::super) key: Option<&'a [u8]>,
    pub(in super::super) value: Option<&'a [u8]>,
    pub(in super::super) opaque: usize,
}

/// The headers of one record.
pub(in super::super) struct Headers(NonNull<sys::rd_kafka_headers_t>);

impl Headers {
    /// No header yet, with room for `n`.
    pub(in super::super) fn with_capacity(n: usize) -> Self {
        // SAFETY: the call has no preconditions.
        let headers = unsafe { sys::rd_kafka_headers_new(n) };
        Self(NonNull::new(headers).expect("librdkafka aborts when it is out of memory"))
    }

    /// Adds a header; the name need not be UTF-8.
    pub(in super::super) fn push(&mut self, name: &[u8], value: Option<&[u8]>) {
        let (start, len) = raw(value);
        // SAFETY: name and value are valid for the call, which copies them; their lengths fit, as slices do.
        let _code = unsafe {
            sys::rd_kafka_header_add(
                self.0.as_ptr(),
                name.as_ptr().cast::<c_char>(),
                name.len().cast_signed(),
                start,
                len.cast_signed(),
            )
        };
    }
}

impl Drop for Headers {
    fn drop(&mut self) {
        // SAFETY: the headers are ours: a record that took them has made us forget them.
        unsafe { sys::rd_kafka_headers_destroy(self.0.as_ptr()) };
    }
}

fn raw(bytes: Option<&[u8]>) -> (*mut c_void, usize) {
    bytes.map_or((null_mut(), 0), |bytes| (bytes.as_ptr().cast_mut().cast::<c_void>(), bytes.len()))
}

/// The producing side of a client, with the memory for its calls.
pub(in super::super) struct Producer {
    client: Arc<Client>,
    run: Vec<sys::rd_kafka_message_t>,
}

impl Producer {
    pub(in super::super) fn new(client: Arc<Client>) -> Self {
        Self { client, run: Vec::new() }
    }

    /// Hands plain records of one topic over in one call; answers how many were taken. Which were not is told by
    /// [`Self::run_error`]; after a full queue none is taken.
    pub(in super::super) fn produce_run<'a>(
        &mut self,
        topic: &Topic,
        records: impl Iterator<Item = Plain<'a>>,
    ) -> usize {
        self.run.clear();
        self.run.extend(records.map(|record| {
            let (payload, len) = raw(record.value);
            let (key, key_len) = raw(record.key);
            sys::rd_kafka_message_t {
                err: sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR_NO_ERROR,
                rkt: null_mut(),
                partition: record.partition.unwrap_or(super::PARTITION_UA),
                payload,
                len,
                key,
                key_len,
                offset: 0,
                _private: record.opaque as *mut c_void,
            }
        }));
        // SAFETY: topic and client are alive; keys and values are valid for the call, which copies them.
        let taken = unsafe {
            sys::rd_kafka_produce_batch(
                topic.topic.as_ptr(),
                super::PARTITION_UA,
                FLAGS | sys::RD_KAFKA_MSG_F_PARTITION,
                self.run.as_mut_ptr(),
                i32::try_from(self.run.len()).unwrap_or(i32::MAX),
            )
        };
        usize::try_from(taken).unwrap_or(0)
    }

    /// Why the record at `index` of the last run was not taken.
    pub(in super::super) fn run_error(&self, index: usize) -> Option<RDKafkaErrorCode> {
        self.run.get(index).filter(|message| !is_ok(message.err)).map(|message| message.err.into())
    }

    /// Hands one record over; the headers are gone if it was taken.
    pub(in super::super) fn produce(
        &self,
        topic: &Topic,
        record: Plain<'_>,
        timestamp: Option<i64>,
        headers: &mut Option<Headers>,
    ) -> CodeResult<()> {
        let memory = |bytes: Option<&[u8]>| {
            let (ptr, size) = raw(bytes);
            sys::rd_kafka_vu_s__bindgen_ty_1 { mem: sys::rd_kafka_vu_s__bindgen_ty_1__bindgen_ty_1 { ptr, size } }
        };
        let argument = |vtype, u| sys::rd_kafka_vu_t { vtype, u };
        let partition = record.partition.unwrap_or(super::PARTITION_UA);
        let arguments = [
            argument(vtype::RD_KAFKA_VTYPE_RKT, sys::rd_kafka_vu_s__bindgen_ty_1 { rkt: topic.topic.as_ptr() }),
            argument(vtype::RD_KAFKA_VTYPE_PARTITION, sys::rd_kafka_vu_s__bindgen_ty_1 { i32_: partition }),
            argument(vtype::RD_KAFKA_VTYPE_MSGFLAGS, sys::rd_kafka_vu_s__bindgen_ty_1 { i: FLAGS }),
            argument(vtype::RD_KAFKA_VTYPE_VALUE, memory(record.value)),
            argument(vtype::RD_KAFKA_VTYPE_KEY, memory(record.key)),
            argument(
                vtype::RD_KAFKA_VTYPE_OPAQUE,
                sys::rd_kafka_vu_s__bindgen_ty_1 { ptr: record.opaque as *mut c_void },
            ),
            // 0 is librdkafka's word for "now".
            argument(
                vtype::RD_KAFKA_VTYPE_TIMESTAMP,
                sys::rd_kafka_vu_s__bindgen_ty_1 { i64_: timestamp.unwrap_or(0) },
            ),
            argument(
                vtype::RD_KAFKA_VTYPE_HEADERS,
                sys::rd_kafka_vu_s__bindgen_ty_1 {
                    headers: headers.as_ref().map_or(null_mut(), |headers| headers.0.as_ptr()),
                },
            ),
        ];
        let n = if headers.is_some() { arguments.len() } else { arguments.len() - 1 };
        // SAFETY: the arguments are tagged with their types; key and value are valid for the call, which copies them;
        // the headers belong to the record if and only if it was taken.
        let taken = check_object(unsafe { sys::rd_kafka_produceva(self.client.rk(), arguments.as_ptr(), n) });
        if taken.is_ok() {
            std::mem::forget(headers.take());
        }
        taken
    }
}
