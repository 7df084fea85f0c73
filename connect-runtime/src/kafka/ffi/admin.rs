//! Administrative requests. Each call waits for the broker's answer: call them on a thread that may block.

use std::{ffi::c_char, ptr::NonNull, sync::Arc, time::Duration};

use rdkafka::error::RDKafkaErrorCode;
use rdkafka_sys as sys;
use sys::rd_kafka_admin_op_t as op;

use super::{Client, CodeResult, Event, Partitions, c_name, check, millis, text_of};

/// Time beyond the request's own limit within which librdkafka answers for certain.
const ANSWER_GRACE: Duration = Duration::from_secs(2);

/// A topic to create.
#[derive(Debug)]
pub(in super::super) struct NewTopic<'a> {
    pub(in super::super) name: &'a str,
    pub(in super::super) partitions: i32,
    /// -1: the broker's default.
    pub(in super::super) replication_factor: i32,
    pub(in super::super) configs: &'a [(String, String)],
}

/// What became of one topic of a request.
#[derive(Debug)]
pub(in super::super) struct TopicOutcome {
    pub(in super::super) name: String,
    pub(in super::super) result: Result<(), (RDKafkaErrorCode, String)>,
}

type CodeAndText<T> = Result<T, (RDKafkaErrorCode, String)>;

struct Options(NonNull<sys::rd_kafka_AdminOptions_t>);

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: the options are ours.
        unsafe { sys::rd_kafka_AdminOptions_destroy(self.0.as_ptr()) };
    }
}

fn plain(code: RDKafkaErrorCode) -> (RDKafkaErrorCode, String) {
    (code, code.to_string())
}

impl Client {
    /// Sends a request by `send` and waits for its answer.
    fn request(
        self: &Arc<Self>,
        kind: op,
        timeout: Duration,
        send: impl FnOnce(*mut sys::rd_kafka_AdminOptions_t, *mut sys::rd_kafka_queue_t),
    ) -> CodeAndText<Event> {
        let queue = self.new_queue();
        let mut text = [0_u8; 256];
        // SAFETY: the client is alive; the options are ours from here on.
        let options = unsafe { sys::rd_kafka_AdminOptions_new(self.rk(), kind) };
        let options = Options(NonNull::new(options).ok_or_else(|| plain(RDKafkaErrorCode::InvalidArgument))?);
        // SAFETY: options and text buffer are alive.
        let set = unsafe {
            sys::rd_kafka_AdminOptions_set_request_timeout(
                options.0.as_ptr(),
                millis(timeout),
                text.as_mut_ptr().cast::<c_char>(),
                text.len(),
            )
        };
        check(set).map_err(plain)?;
        send(options.0.as_ptr(), queue.ptr());
        let event = queue.poll(timeout + ANSWER_GRACE).ok_or_else(|| plain(RDKafkaErrorCode::RequestTimedOut))?;
        // SAFETY: the event is alive; its text is copied.
        unsafe {
            let code = sys::rd_kafka_event_error(event.event.as_ptr());
            check(code).map_err(|code| (code, text_of(sys::rd_kafka_event_error_string(event.event.as_ptr()))))?;
        }
        Ok(event)
    }

    /// Creates topics.
    pub(in super::super) fn create_topics(
        self: &Arc<Self>,
        topics: &[NewTopic<'_>],
        timeout: Duration,
    ) -> CodeAndText<Vec<TopicOutcome>> {
        let mut natives = Vec::with_capacity(topics.len());
        let mut refused = None;
        for topic in topics {
            let name = c_name(topic.name);
            let mut text = [0_u8; 256];
            // SAFETY: the name and the buffer are valid for the call, which copies the name.
            let native = unsafe {
                sys::rd_kafka_NewTopic_new(
                    name.as_ptr(),
                    topic.partitions,
                    topic.replication_factor,
                    text.as_mut_ptr().cast::<c_char>(),
                    text.len(),
                )
            };
            if native.is_null() {
                refused = Some((RDKafkaErrorCode::InvalidArgument, super::text_of_buffer(&text)));
                break;
            }
            natives.push(native);
            for (key, value) in topic.configs {
                // SAFETY: the topic is ours; key and value are copied.
                let set =
                    unsafe { sys::rd_kafka_NewTopic_set_config(native, c_name(key).as_ptr(), c_name(value).as_ptr()) };
                if let Err(code) = check(set) {
                    refused = Some(plain(code));
                }
            }
        }
        let answer = match refused {
            Some(refused) => Err(refused),
            None => self.request(op::RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout, |options, queue| {
                // SAFETY: all are alive; the topics are copied.
                unsafe { sys::rd_kafka_CreateTopics(self.rk(), natives.as_mut_ptr(), natives.len(), options, queue) };
            }),
        };
        for native in natives {
            // SAFETY: each topic is ours and freed once.
            unsafe { sys::rd_kafka_NewTopic_destroy(native) };
        }
        let event = answer?;
        let mut n = 0;
        // SAFETY: the results live as long as the event and are copied.
        unsafe {
            let result = sys::rd_kafka_event_CreateTopics_result(event.event.as_ptr());
            if result.is_null() {
                return Err(plain(RDKafkaErrorCode::Fail));
            }
            let topics = sys::rd_kafka_CreateTopics_result_topics(result, &raw mut n);
            Ok(list(topics, n)
                .map(|topic| TopicOutcome {
                    name: text_of(sys::rd_kafka_topic_result_name(topic)),
                    result: check(sys::rd_kafka_topic_result_error(topic))
                        .map_err(|code| (code, text_of(sys::rd_kafka_topic_result_error_string(topic)))),
                })
                .collect())
        }
    }

    /// The configuration of one topic, key by key.
    pub(in super::super) fn describe_topic(
        self: &Arc<Self>,
        topic: &str,
        timeout: Duration,
    ) -> CodeAndText<Vec<(String, String)>> {
        let name = c_name(topic);
        // SAFETY: the name is valid for the call, which copies it.
        let resource = unsafe {
            sys::rd_kafka_ConfigResource_new(sys::rd_kafka_ResourceType_t::RD_KAFKA_RESOURCE_TOPIC, name.as_ptr())
        };
        if resource.is_null() {
            return Err(plain(RDKafkaErrorCode::InvalidArgument));
        }
        let mut resources = [resource];
        let answer = self.request(op::RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout, |options, queue| {
            // SAFETY: all are alive; the resource is copied.
            unsafe { sys::rd_kafka_DescribeConfigs(self.rk(), resources.as_mut_ptr(), 1, options, queue) };
        });
        // SAFETY: the resource is ours and freed once.
        unsafe { sys::rd_kafka_ConfigResource_destroy(resource) };
        let event = answer?;
        let (mut n_resources, mut n) = (0, 0);
        // SAFETY: the results live as long as the event and are copied.
        unsafe {
            let result = sys::rd_kafka_event_DescribeConfigs_result(event.event.as_ptr());
            if result.is_null() {
                return Err(plain(RDKafkaErrorCode::Fail));
            }
            let resources = sys::rd_kafka_DescribeConfigs_result_resources(result, &raw mut n_resources);
            let Some(resource) = list(resources, n_resources).next() else {
                return Err(plain(RDKafkaErrorCode::Fail));
            };
            check(sys::rd_kafka_ConfigResource_error(resource))
                .map_err(|code| (code, text_of(sys::rd_kafka_ConfigResource_error_string(resource))))?;
            let entries = sys::rd_kafka_ConfigResource_configs(resource, &raw mut n);
            Ok(list(entries, n)
                .map(|entry| {
                    (text_of(sys::rd_kafka_ConfigEntry_name(entry)), text_of(sys::rd_kafka_ConfigEntry_value(entry)))
                })
                .collect())
        }
    }

    /// The offsets that the list asks for by librdkafka's words for beginning (-2) and end (-1).
    pub(in super::super) fn list_offsets(
        self: &Arc<Self>,
        asked: &Partitions,
        committed_only: bool,
        timeout: Duration,
    ) -> CodeAndText<Vec<(String, i32, CodeResult<i64>)>> {
        let level = if committed_only {
            sys::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
        } else {
            sys::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED
        };
        let event = self.request(op::RD_KAFKA_ADMIN_OP_LISTOFFSETS, timeout, |options, queue| {
            // SAFETY: all are alive; the list is copied. An error object of the option is freed by `check_object`.
            unsafe {
                let set = super::check_object(sys::rd_kafka_AdminOptions_set_isolation_level(options, level));
                debug_assert!(set.is_ok(), "the isolation level is an option of this request");
                sys::rd_kafka_ListOffsets(self.rk(), asked.ptr(), options, queue);
            }
        })?;
        let mut n = 0;
        // SAFETY: the results live as long as the event and are copied.
        unsafe {
            let result = sys::rd_kafka_event_ListOffsets_result(event.event.as_ptr());
            if result.is_null() {
                return Err(plain(RDKafkaErrorCode::Fail));
            }
            let infos = sys::rd_kafka_ListOffsets_result_infos(result, &raw mut n);
            Ok(list(infos, n)
                .map(|info| {
                    let entry = &*sys::rd_kafka_ListOffsetsResultInfo_topic_partition(info);
                    (text_of(entry.topic), entry.partition, check(entry.err).map(|()| entry.offset))
                })
                .collect())
        }
    }
}

/// The items of an array of librdkafka's.
///
/// # Safety
/// `array` is null or holds `n` pointers that live while the iterator does.
unsafe fn list<T: 'static>(array: *mut *const T, n: usize) -> impl Iterator<Item = *const T> {
    // SAFETY: as the caller promises.
    let items = if array.is_null() || n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(array, n) } };
    items.iter().copied()
}
