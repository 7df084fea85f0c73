//! Errors of Kafka clients, and the one table that says what each of Kafka's codes means for a task.

use std::fmt;

use connect_sdk::error::{Class, Classify, TaskError};
use rdkafka::{
    error::{KafkaError as NativeError, RDKafkaErrorCode as Code},
    types::RDKafkaRespErr,
};

/// What a code means for the work in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// It may work later: the client or its caller tries again.
    Retriable,
    /// One record is at fault, for ever; others are not touched by it, save that a broker refuses its whole batch.
    Record,
    /// The running transaction must be aborted; the next one may work.
    Abortable,
    /// Nothing helps but a change of configuration or rights; the task fails.
    Fatal,
    /// Another instance has taken over; this one must stop writing.
    Fenced,
}

/// The class of one of Kafka's, or librdkafka's own, error codes.
#[must_use]
pub(super) fn class_of(code: Code) -> ErrorClass {
    match code {
        Code::Fenced
        | Code::ProducerFenced
        | Code::InvalidProducerEpoch
        | Code::FencedInstanceId
        | Code::FencedMemberEpoch => ErrorClass::Fenced,
        Code::MessageSizeTooLarge
        | Code::MessageBatchTooLarge
        | Code::InvalidRecord
        | Code::InvalidMessage
        | Code::InvalidMessageSize
        | Code::InvalidTimestamp
        | Code::InvalidArgument => ErrorClass::Record,
        Code::OutOfOrderSequenceNumber
        | Code::UnknownProducerId
        | Code::InvalidProducerIdMapping
        | Code::PurgeQueue
        | Code::PurgeInflight
        // What a call or a record meets in a transaction that has failed before.
        | Code::State
        | Code::Inconsistent
        | Code::InvalidTransactionalState => ErrorClass::Abortable,
        Code::AllBrokersDown
        | Code::BrokerTransportFailure
        | Code::Resolve
        | Code::OperationTimedOut
        | Code::MessageTimedOut
        | Code::TimedOutQueue
        | Code::RequestTimedOut
        | Code::NetworkException
        | Code::QueueFull
        | Code::Retry
        | Code::WaitingForCoordinator
        | Code::BrokerDestroy
        | Code::InProgress
        | Code::PreviousInProgress
        | Code::Outdated
        | Code::UnknownTopic
        | Code::UnknownPartition
        | Code::LeaderNotAvailable
        | Code::NotLeaderForPartition
        | Code::ReplicaNotAvailable
        | Code::BrokerNotAvailable
        | Code::UnknownTopicOrPartition
        | Code::CoordinatorLoadInProgress
        | Code::CoordinatorNotAvailable
        | Code::NotCoordinator
        | Code::NotEnoughReplicas
        | Code::NotEnoughReplicasAfterAppend
        | Code::NotController
        | Code::RebalanceInProgress
        | Code::IllegalGeneration
        | Code::UnknownMemberId
        | Code::StaleMemberEpoch
        | Code::AssignmentLost
        | Code::ConcurrentTransactions
        // Of a coordinator, which the client looks up anew.
        | Code::TransactionCoordinatorFenced
        | Code::KafkaStorageError
        | Code::ListenerNotFound
        | Code::FencedLeaderEpoch
        | Code::UnknownLeaderEpoch
        | Code::OffsetNotAvailable
        | Code::PreferredLeaderNotAvailable
        | Code::EligibleLeadersNotAvailable
        | Code::UnstableOffsetCommit
        | Code::ThrottlingQuotaExceeded
        | Code::PollExceeded
        | Code::NoOffset => ErrorClass::Retriable,
        _ => ErrorClass::Fatal,
    }
}

/// Whether the code says that a broker cannot be reached, which the client gets over by itself.
pub(super) fn is_connectivity(code: Code) -> bool {
    matches!(
        code,
        Code::AllBrokersDown
            | Code::BrokerTransportFailure
            | Code::Resolve
            | Code::OperationTimedOut
            | Code::RequestTimedOut
            | Code::NetworkException
    )
}

/// An error of a Kafka client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaError {
    class: ErrorClass,
    code: Option<Code>,
    text: String,
}

impl KafkaError {
    /// An error with one of Kafka's codes; `what` says what was being done, `why` what the broker or library said.
    pub(super) fn coded(code: Code, what: &str, why: &str) -> Self {
        let said = code.to_string();
        let text = if why.is_empty() || said.contains(why) {
            format!("{what}: {said}")
        } else {
            format!("{what}: {said}: {why}")
        };
        Self { class: class_of(code), code: Some(code), text }
    }

    /// The error that a broker's answer carries by its number.
    pub(super) fn answered(code: i16, what: &str, why: &str) -> Self {
        match RDKafkaRespErr::try_from(i32::from(code)) {
            Ok(native) => Self::coded(native.into(), what, why),
            // A newer broker's; what it means is not known, so nothing is tried again.
            Err(_) => Self::new(ErrorClass::Fatal, format!("{what}: error {code} of the broker: {why}")),
        }
    }

    /// An error without a code.
    pub(super) fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self { class, code: None, text: text.into() }
    }

    /// The same error, fatal whatever its code says.
    pub(super) fn fatal(self) -> Self {
        let class = if self.class == ErrorClass::Fenced { ErrorClass::Fenced } else { ErrorClass::Fatal };
        Self { class, ..self }
    }

    /// What the error means.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// Whether the broker does not know what it was asked: another way must be found.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self.code, Some(Code::UnsupportedVersion | Code::UnsupportedFeature))
    }

    pub(super) fn code(&self) -> Option<Code> {
        self.code
    }

    /// An error of the crate that wraps librdkafka.
    pub(super) fn native(error: &NativeError, what: &str) -> Self {
        match error {
            // Its text holds the value, which may be a secret; values have been checked before.
            NativeError::ClientConfig(_, why, key, _) => {
                Self::new(ErrorClass::Fatal, format!("{what}: `{key}` is not usable: {why}"))
            }
            NativeError::ClientCreation(why) => Self::new(ErrorClass::Fatal, format!("{what}: {why}")),
            other => match other.rdkafka_error_code() {
                Some(code) => Self::coded(code, what, ""),
                None => Self::new(ErrorClass::Fatal, format!("{what}: {other}")),
            },
        }
    }
}

impl fmt::Display for KafkaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for KafkaError {}

impl Classify for KafkaError {
    fn classify(&self) -> Class {
        match self.class {
            // The transaction's records go again, in another one.
            ErrorClass::Retriable | ErrorClass::Abortable => Class::Retriable { after: None },
            ErrorClass::Record | ErrorClass::Fatal | ErrorClass::Fenced => Class::Fatal,
        }
    }
}

/// The error of a record that is larger than `limit` bytes: one text, wherever it is noticed.
#[must_use]
pub fn record_too_large(topic: &str, size: usize, limit: usize) -> TaskError {
    TaskError::fatal(format!(
        "record of {size} bytes for topic `{topic}` is larger than the limit of {limit} bytes; raise the producer's \
         `max.request.size` (`producer.override.max.request.size` in the connector's configuration) and the topic's \
         `max.message.bytes`, whichever is smaller"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_classed() {
        for (code, class) in [
            (Code::NotEnoughReplicas, ErrorClass::Retriable),
            (Code::BrokerTransportFailure, ErrorClass::Retriable),
            (Code::UnknownMemberId, ErrorClass::Retriable),
            (Code::MessageSizeTooLarge, ErrorClass::Record),
            (Code::OutOfOrderSequenceNumber, ErrorClass::Abortable),
            (Code::TopicAuthorizationFailed, ErrorClass::Fatal),
            (Code::UnsupportedVersion, ErrorClass::Fatal),
            (Code::Fenced, ErrorClass::Fenced),
        ] {
            assert_eq!(class_of(code), class, "{code:?}");
        }
        let error = KafkaError::coded(Code::Fenced, "commit", "");
        assert_eq!(error.clone().fatal().class(), ErrorClass::Fenced);
        assert!(!TaskError::from(error).is_retriable());
        assert!(TaskError::from(KafkaError::coded(Code::NotCoordinator, "commit", "")).is_retriable());
    }

    #[test]
    fn what_transactions_meet_is_classed_as_kafkas_own_producer_does() {
        let rows: [(ErrorClass, &[Code]); 5] = [
            (
                ErrorClass::Retriable,
                &[
                    Code::OperationTimedOut,
                    Code::RequestTimedOut,
                    Code::BrokerTransportFailure,
                    Code::CoordinatorLoadInProgress,
                    Code::CoordinatorNotAvailable,
                    Code::NotCoordinator,
                    Code::ConcurrentTransactions,
                    Code::UnknownTopicOrPartition,
                    Code::MessageTimedOut,
                ],
            ),
            (ErrorClass::Record, &[Code::MessageSizeTooLarge, Code::MessageBatchTooLarge, Code::InvalidRecord]),
            (
                ErrorClass::Abortable,
                &[
                    Code::OutOfOrderSequenceNumber,
                    Code::UnknownProducerId,
                    Code::InvalidProducerIdMapping,
                    Code::InvalidTransactionalState,
                    Code::Inconsistent,
                    Code::State,
                    Code::PurgeQueue,
                    Code::PurgeInflight,
                ],
            ),
            (
                ErrorClass::Fatal,
                &[
                    Code::TransactionalIdAuthorizationFailed,
                    Code::ClusterAuthorizationFailed,
                    Code::TopicAuthorizationFailed,
                    Code::InvalidTransactionTimeout,
                    Code::UnsupportedVersion,
                    Code::UnsupportedFeature,
                    Code::Authentication,
                ],
            ),
            (ErrorClass::Fenced, &[Code::Fenced, Code::ProducerFenced, Code::InvalidProducerEpoch]),
        ];
        for (class, codes) in rows {
            for code in codes {
                let error = KafkaError::coded(*code, "commit", "");
                assert_eq!(error.class(), class, "{code:?}");
                let goes_again = matches!(class, ErrorClass::Retriable | ErrorClass::Abortable);
                assert_eq!(TaskError::from(error.clone()).is_retriable(), goes_again, "{code:?}");
                assert!(!TaskError::from(error.fatal()).is_retriable(), "{code:?}: what is fatal stays so");
            }
        }
    }

    #[test]
    fn a_secret_in_a_configuration_error_is_not_shown() {
        let native = rdkafka::config::ClientConfig::new().set("sasl.passwort", "hunter2").create_native_config();
        let error = KafkaError::native(&native.err().unwrap(), "cannot create the client");
        assert!(error.to_string().contains("`sasl.passwort`") && !error.to_string().contains("hunter2"), "{error}");
    }
}
