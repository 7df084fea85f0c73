//! What becomes of records that a step cannot take: tried again, skipped, logged, put into a dead letter queue.
//!
//! Shared by both task loops; no I/O but through ports. Keeps the behaviour of Kafka's `RetryWithToleranceOperator`,
//! `LogReporter` and `DeadLetterQueueReporter` (KIP-298, KIP-610).

mod config;
mod failure;
mod headers;
mod lines;
mod reporter;
mod retry;
mod source_letters;

pub use config::ErrorConfig;
pub(crate) use failure::{Failure, Stage};
pub(crate) use headers::{ContextHeaders, Origin};
pub(crate) use reporter::ErrorReporter;
pub(crate) use retry::{Retries, TryAgain};
pub(crate) use source_letters::{SourceLetters, offset_of, source_record};
