//! Dead letter queues on Kafka: their topics. What goes into them is decided by the task loops of connect-sdk.

mod topics;

pub(crate) use topics::DeadLetterTopics;
