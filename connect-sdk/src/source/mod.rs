//! The author's side of a source connector: a value born from cursors, whose positions the framework owns.
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "what generated code writes and the worker reads, released together with this crate; authors' sets are closed"
)]

mod batch;
mod buffer;
mod connector;
pub(crate) mod cursor;
mod fields;
mod hook;
pub(crate) mod lock;
pub(crate) mod offset;
mod raw;
mod record;

pub use batch::{AtLeastOnce, Batch, DefinesTransactions};
pub use connect_macros::{SourceOffset, SourcePartition};
pub use connector::{ExactlyOnce, SourceConnector, SourceMeta};
#[doc(hidden)]
pub use cursor::Movable;
pub use cursor::{Cursor, Cursors};
pub(crate) use cursor::{Epoch, make_cursors};
pub use fields::{FieldMap, FieldValue, OffsetMap, PartitionMap};
pub use hook::{CommitHook, Committed, NoHook};
pub use offset::{FieldKind, FieldMeta, RestoreError, SourceOffset, SourcePartition};
#[doc(hidden)]
pub use offset::{OffsetField, PartitionField};
pub use raw::{
    BatchLimits, Entry, EntryKind, HeaderRange, Mark, OffsetColumn, Payload, PayloadRef, RawHeader, RecordBatch,
};
pub use record::{AnyPayload, IntoPayload, Record};

use crate::{config::ConnectorConfig, error::Result};

/// A source connector's task: reads from its cursors' positions on and emits records with the positions after them.
///
/// The framework makes one value a task with [`Source::open`], drops it at any moment (stop, pause, failure, a changed
/// configuration) and opens a new one from the last accepted offsets. Nothing else ever moves a position: there is no
/// commit callback and no stop method. For clean-up in the source system name a [`CommitHook`] in the attribute.
///
/// All methods are written as `async fn` in the impl, on which stands `#[source_connector(..)]`:
///
/// ```
/// use connect_sdk::prelude::*;
///
/// #[derive(ConnectorConfig)]
/// pub struct CountConfig {
///     /// The topic the numbers go to.
///     topic: String,
/// }
/// #[derive(SourcePartition)]
/// pub struct Counter { pub name: String }
/// #[derive(SourceOffset)]
/// pub struct Next { pub next: i64 }
///
/// pub struct Count { at: Cursor<Counter, Next>, topic: String }
///
/// /// Counts.
/// #[source_connector(name = "count", exactly_once = supported(untested = "an example in the documentation"))]
/// impl Source for Count {
///     type Config = CountConfig;
///     type Partition = Counter;
///     type Offset = Next;
///
///     async fn partitions(_: &CountConfig) -> Result<Vec<Counter>> {
///         Ok(vec![Counter { name: "only".into() }])
///     }
///     async fn open(cfg: &CountConfig, at: Cursors<Counter, Next>) -> Result<Self> {
///         Ok(Self { at: at.only()?, topic: cfg.topic.clone() })
///     }
///     async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
///         let n = self.at.offset().map_or(0, |o| o.next);
///         out.emit(&mut self.at, Record::to(&self.topic).value(n), Next { next: n + 1 });
///         Ok(())
///     }
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a source", label = "this type does not implement `Source`")]
pub trait Source: Sized + Send + 'static {
    /// The settings; derive [`ConnectorConfig`].
    type Config: ConnectorConfig;
    /// The identity of what is read in order; derive [`SourcePartition`].
    type Partition: SourcePartition;
    /// A position in a partition; derive [`SourceOffset`].
    type Offset: SourceOffset;

    /// Names everything there is to read.
    ///
    /// Called when the connector starts and, if `partitions.refresh.interval.ms` is set, again at that interval (in
    /// milliseconds). The framework spreads the answer over at most `tasks.max` tasks in contiguous groups.
    ///
    /// # Errors
    /// A retriable error is tried again with back-off; a fatal one makes the connector FAILED.
    fn partitions(cfg: &Self::Config) -> impl Future<Output = Result<Vec<Self::Partition>>> + Send;

    /// Makes the task from its cursors, each with the last accepted offset of its partition.
    ///
    /// Called once for each life of the task. Keep the cursors: only through them can records be emitted.
    ///
    /// # Errors
    /// A retriable error is tried again with back-off; a fatal one makes the task FAILED.
    fn open(
        cfg: &Self::Config,
        at: Cursors<Self::Partition, Self::Offset>,
    ) -> impl Future<Output = Result<Self>> + Send;

    /// Emits what there is, or waits until there is something.
    ///
    /// Called again and again by the task, never concurrently. Return when `out.is_full()`. An empty batch makes the
    /// framework back off before the next call.
    ///
    /// # Cancel safety
    /// It may be dropped while waiting, on stop, pause, or a changed configuration; what it emitted is then discarded
    /// and the value is dropped too, so nothing needs to be undone.
    ///
    /// # Errors
    /// Retriable: this value is dropped and a new one is opened from the accepted offsets, after the error's own delay
    /// or a back-off. Fatal: accepted offsets are stored and the task becomes FAILED.
    fn poll(&mut self, out: &mut Batch<Self>) -> impl Future<Output = Result<()>> + Send;

    /// Says whether this configuration can keep what the attribute promises; it can only narrow the promise.
    ///
    /// Called at validation, without a task. The default is [`Viable::Yes`].
    #[must_use]
    fn viable(_cfg: &Self::Config) -> Viable {
        Viable::Yes
    }

    /// Releases what dropping cannot: logs out, gives a lease back.
    ///
    /// Called when the task stops or pauses, after what was accepted is stored, whether or not a poll was dropped in the
    /// middle. Best effort: bounded by `task.shutdown.graceful.timeout.ms`, and not called after an error, a panic or a
    /// kill. Never needed for correctness; it consumes the value, so nothing can be learnt from it.
    fn close(self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Whether a configuration allows exactly-once delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Viable {
    /// It keeps what the attribute says.
    Yes,
    /// It cannot be read again from an offset, for this reason.
    No(String),
}
