//! `Failure`: which step of a record failed, and why, in the words that Kafka has for it.

use crate::{
    data::DataError,
    error::{Cause, SharedCause, chain_of},
};
use std::{error::Error, fmt, fmt::Write};

/// A step of a record, under Kafka's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Transformation,
    KeyConverter,
    ValueConverter,
    HeaderConverter,
    /// A source's record does not fit its topic, or the broker refused it.
    KafkaProduce,
    /// The sink rejected the record.
    TaskPut,
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Transformation => "TRANSFORMATION",
            Self::KeyConverter => "KEY_CONVERTER",
            Self::ValueConverter => "VALUE_CONVERTER",
            Self::HeaderConverter => "HEADER_CONVERTER",
            Self::KafkaProduce => "KAFKA_PRODUCE",
            Self::TaskPut => "TASK_PUT",
        }
    }
}

/// The Java exceptions that errors of Rust stand for: consumers of a dead letter queue know them.
const DATA: &str = "org.apache.kafka.connect.errors.DataException";
const RETRIABLE: &str = "org.apache.kafka.connect.errors.RetriableException";
const CONNECT: &str = "org.apache.kafka.connect.errors.ConnectException";
const TOO_LARGE: &str = "org.apache.kafka.common.errors.RecordTooLargeException";
const KAFKA: &str = "org.apache.kafka.common.KafkaException";
const IO: &str = "java.io.IOException";

/// What failed where steps have no class of their own, as in Kafka.
const SINK_TASK: &str = "org.apache.kafka.connect.sink.SinkTask";
const SOURCE_TASK: &str = "org.apache.kafka.connect.runtime.WorkerSourceTask";
/// The class of a transformation that does not say which it is.
const TRANSFORMATION: &str = "org.apache.kafka.connect.transforms.Transformation";

/// The longest text of causes, in bytes: dead letters carry it in a header.
const TRACE_BYTES_MAX: usize = 8 * 1024;

/// One record that a step could not take.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    /// The class that failed.
    pub(crate) class: &'static str,
    /// The Java class of the error.
    pub(crate) exception: &'static str,
    pub(crate) cause: Cause,
}

impl Failure {
    /// A converter failed.
    pub(crate) fn converter(stage: Stage, class: &'static str, error: DataError) -> Self {
        let exception = if error.is_retriable() { RETRIABLE } else { DATA };
        Self { stage, class, exception, cause: Box::new(error) }
    }

    /// A transformation or a predicate failed.
    pub(crate) fn transformation(error: DataError) -> Self {
        let class = error.plugin().unwrap_or(TRANSFORMATION);
        Self::converter(Stage::Transformation, class, error)
    }

    /// The sink rejected the record.
    pub(crate) fn rejected(cause: Cause) -> Self {
        Self { stage: Stage::TaskPut, class: SINK_TASK, exception: exception_of(cause.as_ref()), cause }
    }

    /// The record is larger than its topic takes.
    pub(crate) fn too_large(cause: Cause) -> Self {
        Self { stage: Stage::KafkaProduce, class: SOURCE_TASK, exception: TOO_LARGE, cause }
    }

    /// The broker refused the record.
    pub(crate) fn refused(cause: Cause) -> Self {
        Self { stage: Stage::KafkaProduce, class: SOURCE_TASK, exception: KAFKA, cause }
    }

    /// The error and its causes, as Java prints them but without its stack frames, cut at a limit.
    pub(crate) fn trace(&self) -> String {
        let mut text = format!("{}: {}", self.exception, self.cause);
        let mut next = self.cause.source();
        while let Some(cause) = next {
            // Writing to a string cannot fail.
            let _ok = write!(text, "\nCaused by: {}: {cause}", exception_of(cause));
            next = cause.source();
        }
        cut(&mut text, TRACE_BYTES_MAX);
        text
    }

    /// The error and its causes on one line.
    pub(crate) fn chain(&self) -> String {
        chain_of(&*self.cause)
    }
}

impl fmt::Display for Failure {
    /// As Kafka's `LogReporter`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executing stage '{}' with class '{}'", self.stage.name(), self.class)
    }
}

/// The Java class that an error stands for.
fn exception_of(error: &(dyn Error + 'static)) -> &'static str {
    if let Some(error) = error.downcast_ref::<DataError>() {
        return if error.is_retriable() { RETRIABLE } else { DATA };
    }
    if let Some(error) = error.downcast_ref::<SharedCause>() {
        return exception_of(error.shared());
    }
    if error.is::<std::io::Error>() { IO } else { CONNECT }
}

/// Cuts a text at a limit, between two characters.
pub(super) fn cut(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        let at = text.floor_char_boundary(bytes_max);
        text.truncate(at);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_java_class_that_they_stand_for() {
        let of = |cause: Cause| Failure::rejected(cause).exception;
        assert_eq!(of(Box::new(DataError::new("x"))), DATA);
        assert_eq!(of(Box::new(DataError::retriable("x"))), RETRIABLE);
        assert_eq!(of("text".into()), CONNECT);
        assert_eq!(of(Box::new(std::io::Error::other("x"))), IO);
        assert_eq!(Failure::transformation(DataError::new("x").in_plugin("a.B")).class, "a.B");
    }

    #[test]
    fn a_trace_has_the_causes_and_an_end() {
        #[derive(Debug)]
        struct Outer(std::io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("cannot insert")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let failure = Failure::rejected(Box::new(Outer(std::io::Error::other("disk full"))));
        assert_eq!(
            failure.trace(),
            "org.apache.kafka.connect.errors.ConnectException: cannot insert\nCaused by: java.io.IOException: disk full"
        );
        assert_eq!(failure.chain(), "cannot insert: disk full");
        let long = Failure::rejected("ä".repeat(10_000).into());
        assert!(long.trace().len() <= TRACE_BYTES_MAX + '…'.len_utf8());
    }
}
