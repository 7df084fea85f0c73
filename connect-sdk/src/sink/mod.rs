//! The author's side of a sink connector: records in, and what is safe to commit out.
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "answers must be matched completely, and the worker makes the rest"
)]

mod commit;
mod connector;
mod context;
mod record;

#[doc(hidden)]
pub use commit::{Brand, Decided, PutForward, StillOpen};
pub use commit::{Closing, PreCommit, Running, Safe};
pub use connector::{Direct, SinkConnector, SinkMeta, SinkTask};
pub(crate) use context::rejection;
pub use context::{CloseReason, PutAction, PutCx, Rejected, StartOffsets};
pub(crate) use record::OriginalRecord;
pub use record::{HasPosition, PartitionTag, Position, SinkRecord, SinkRecordParts, TopicPartition};

use crate::{config::ConnectorConfig, error::Result, task::OpenCx};

/// A sink whose `put` has written everything when it returns.
///
/// The records are lent: they cannot be kept. A sink that collects records to write them later is a [`BufferedSink`].
/// Stand `#[sink_connector(name = "..")]` on the impl and write the methods as `async fn`.
///
/// ```
/// use connect_sdk::prelude::*;
///
/// #[derive(ConnectorConfig)]
/// pub struct PrintConfig {
///     /// Put before each line.
///     #[config(default = "")]
///     prefix: String,
/// }
/// pub struct Print { prefix: String }
///
/// /// Prints record values.
/// #[sink_connector(name = "print")]
/// impl DirectSink for Print {
///     type Config = PrintConfig;
///
///     async fn open(cfg: &PrintConfig, _: &OpenCx) -> Result<Self> {
///         Ok(Self { prefix: cfg.prefix.clone() })
///     }
///     async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
///         for r in records {
///             println!("{}{}", self.prefix, r.value_text());
///         }
///         Ok(())
///     }
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a direct sink",
    label = "this type does not implement `DirectSink`",
    note = "to keep records for later write `impl BufferedSink`"
)]
pub trait DirectSink: Sized + Send + 'static {
    /// The settings; derive [`ConnectorConfig`].
    type Config: ConnectorConfig;

    /// Makes the task; called once for each life of it, before any record.
    ///
    /// # Errors
    /// A retriable error is tried again with back-off; a fatal one makes the task FAILED.
    fn open(cfg: &Self::Config, cx: &OpenCx) -> impl Future<Output = Result<Self>> + Send;

    /// Writes a batch durably: `Ok` means that the records may be committed.
    ///
    /// Called about once for each consumer poll, never concurrently for one task. `records` may be empty.
    ///
    /// # Errors
    /// Retriable: the same slice is lent again after the error's delay, for at most `put.retry.timeout.ms`; write so
    /// that a repeated record does no harm. Fatal: the task becomes FAILED and nothing of this slice is committed.
    ///
    /// # Cancel safety
    /// Dropped only when the worker is stopped past its graceful time-out.
    fn put(&mut self, records: &[SinkRecord], cx: &mut PutCx) -> impl Future<Output = Result<()>> + Send;

    /// Told which partitions it got. May answer where to start, if the target stores offsets itself.
    ///
    /// # Errors
    /// As for `open`.
    fn assigned(&mut self, _partitions: &[TopicPartition]) -> impl Future<Output = Result<StartOffsets>> + Send {
        async { Ok(StartOffsets::none()) }
    }

    /// Told which partitions it no longer has.
    ///
    /// # Errors
    /// The task becomes FAILED.
    fn closed(&mut self, _partitions: &[TopicPartition], _why: CloseReason) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Releases what dropping cannot: best effort, bounded by `task.shutdown.graceful.timeout.ms`.
    fn close(self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// A sink that keeps records and writes them later; it must say in `pre_commit` what is safe.
///
/// See the crate's documentation for a whole one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffered sink",
    label = "this type does not implement `BufferedSink`"
)]
pub trait BufferedSink: Sized + Send + 'static {
    /// The settings; derive [`ConnectorConfig`].
    type Config: ConnectorConfig;

    /// Makes the task; called once for each life of it, before any record.
    ///
    /// # Errors
    /// A retriable error is tried again with back-off; a fatal one makes the task FAILED.
    fn open(cfg: &Self::Config, cx: &OpenCx) -> impl Future<Output = Result<Self>> + Send;

    /// Takes records over; nothing of them is committed before `pre_commit` says so.
    ///
    /// Called about once for each consumer poll, never concurrently for one task. `records` may be empty: use the call
    /// for time-based writing.
    ///
    /// # Errors
    /// Retriable: this value is dropped, with all it holds, and a new one is opened and fed from the committed offsets,
    /// after the error's delay, for at most `put.retry.timeout.ms`. Fatal: the task becomes FAILED, after a last
    /// `pre_commit` of what was put before.
    ///
    /// # Cancel safety
    /// Dropped only when the worker is stopped past its graceful time-out.
    fn put(&mut self, records: Vec<SinkRecord>, cx: &mut PutCx) -> impl Future<Output = Result<()>> + Send;

    /// Says what may be committed: while running, or (KIP-275) because partitions are closing.
    ///
    /// Called before each commit. On `Closing` write what you hold, or let it be redelivered.
    ///
    /// # Errors
    /// Nothing is committed. While running, a retriable error drops this value, and a new one is opened and fed from the
    /// committed offsets, after the error's delay; on closing, whoever gets the partitions is fed from there. A fatal
    /// error makes the task FAILED, unless it was stopping anyway.
    fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> impl Future<Output = Result<Safe<'c>>> + Send;

    /// As [`DirectSink::assigned`].
    ///
    /// # Errors
    /// As for `open`.
    fn assigned(&mut self, _partitions: &[TopicPartition]) -> impl Future<Output = Result<StartOffsets>> + Send {
        async { Ok(StartOffsets::none()) }
    }

    /// As [`DirectSink::closed`]. On [`CloseReason::Lost`] there was no `pre_commit`: drop what you hold of them.
    ///
    /// # Errors
    /// The task becomes FAILED.
    fn closed(&mut self, _partitions: &[TopicPartition], _why: CloseReason) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// As [`DirectSink::close`].
    fn close(self) -> impl Future<Output = ()> + Send {
        async {}
    }
}
