//! Sources without their types.

use super::{BoxFuture, Properties};
use crate::{
    config::{ConfigDef, ConfigErrors, ConnectorConfig},
    error::{Result, TaskError},
    source::{
        Batch, BatchLimits, CommitHook, Committed, Epoch, OffsetColumn, OffsetMap, PartitionMap, RecordBatch, Source,
        SourceConnector, SourceMeta, SourceOffset, SourcePartition, Viable, make_cursors,
    },
    task::{OpenCx, TaskInfo},
};
use std::{fmt, marker::PhantomData};

/// A source connector: everything that can be asked without a task.
pub trait DynSourceConnector: Send + Sync {
    /// Its description.
    fn meta(&self) -> &'static SourceMeta;
    /// Its configuration keys.
    fn config_def(&self) -> ConfigDef;
    /// Reads the configuration, and says whether it allows exactly-once delivery.
    ///
    /// # Errors
    /// Every problem of the configuration.
    fn check(&self, props: &Properties) -> Result<Viable, ConfigErrors>;
    /// See [`Source::partitions`].
    fn partitions(&self, props: Properties) -> BoxFuture<'static, Result<Vec<PartitionMap>>>;
    /// See [`Source::open`]: starts a life of a task at the given positions.
    fn open(
        &self,
        props: Properties,
        task: TaskInfo,
        assigned: Vec<(PartitionMap, Option<OffsetMap>)>,
        limits: BatchLimits,
    ) -> BoxFuture<'static, Result<Box<dyn DynSource>>>;
    /// See [`CommitHook::connect`]; `None` if the connector has no hook.
    fn connect_hook(&self, props: Properties, cx: OpenCx) -> Option<BoxFuture<'static, Result<Box<dyn DynHook>>>>;
    /// Checks that a stored or altered position has the right fields (KIP-875).
    ///
    /// # Errors
    /// Names the field.
    fn check_position(&self, partition: &PartitionMap, offset: Option<&OffsetMap>) -> Result<()>;
}

/// One life of a source task.
pub trait DynSource: Send {
    /// See [`Source::poll`]; what it emitted is then in [`Self::take`].
    fn poll(&mut self) -> BoxFuture<'_, Result<()>>;
    /// The records of the poll that has returned.
    ///
    /// # Errors
    /// Fatal if a cursor was misused.
    fn take(&mut self) -> Result<Polled>;
    /// Gives a spent buffer back for later polls.
    fn reuse_buffer(&mut self, buffer: Vec<u8>);
    /// See [`Source::close`].
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

impl fmt::Debug for dyn DynSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynSource")
    }
}

/// What one poll has emitted.
pub struct Polled {
    /// The records.
    pub records: RecordBatch,
    /// Their offsets, not yet encoded.
    pub offsets: Box<dyn OffsetColumn>,
    /// Whom to call when the entry at this index is acknowledged.
    pub acks: Vec<(u32, Box<dyn FnOnce() + Send>)>,
    /// True if two records in a row had the same offset outside a group.
    pub equal_offsets: bool,
}

impl fmt::Debug for Polled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Polled").field("records", &self.records.len()).finish_non_exhaustive()
    }
}

/// A commit hook without its types.
pub trait DynHook: Send {
    /// See [`CommitHook::committed`].
    fn committed(&mut self, stored: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<()>>;
}

impl fmt::Debug for dyn DynHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynHook")
    }
}

/// Makes a [`DynSourceConnector`] of any source connector.
pub struct SourceDescriptor<S>(PhantomData<fn() -> S>);

impl<S> SourceDescriptor<S> {
    /// The descriptor of `S`.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<S> Default for SourceDescriptor<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for SourceDescriptor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceDescriptor<{}>", std::any::type_name::<S>())
    }
}

fn config<S: Source>(props: &Properties) -> Result<S::Config> {
    S::Config::from_properties(props).map_err(TaskError::fatal)
}

impl<S: SourceConnector> DynSourceConnector for SourceDescriptor<S> {
    fn meta(&self) -> &'static SourceMeta {
        const { &S::META }
    }

    fn config_def(&self) -> ConfigDef {
        S::Config::config_def()
    }

    fn check(&self, props: &Properties) -> Result<Viable, ConfigErrors> {
        S::Config::from_properties(props).map(|cfg| S::viable(&cfg))
    }

    fn partitions(&self, props: Properties) -> BoxFuture<'static, Result<Vec<PartitionMap>>> {
        Box::pin(async move {
            let cfg = config::<S>(&props)?;
            Ok(S::partitions(&cfg).await?.iter().map(S::Partition::__encode).collect())
        })
    }

    fn open(
        &self,
        props: Properties,
        task: TaskInfo,
        assigned: Vec<(PartitionMap, Option<OffsetMap>)>,
        limits: BatchLimits,
    ) -> BoxFuture<'static, Result<Box<dyn DynSource>>> {
        Box::pin(async move {
            let cfg = config::<S>(&props)?;
            let n = assigned.len();
            let positions = assigned
                .iter()
                .map(|(p, o)| Ok((S::Partition::__decode(p)?, o.as_ref().map(S::Offset::__decode).transpose()?)))
                .collect::<Result<Vec<_>>>()?;
            let epoch = Epoch::new();
            let source = S::open(&cfg, make_cursors(epoch, task, positions)).await?;
            Ok(Box::new(Running { source, batch: Batch::new(epoch, n, limits) }) as Box<dyn DynSource>)
        })
    }

    fn connect_hook(&self, props: Properties, cx: OpenCx) -> Option<BoxFuture<'static, Result<Box<dyn DynHook>>>> {
        S::META.has_hook.then(|| {
            Box::pin(async move {
                let cfg = config::<S>(&props)?;
                Ok(Box::new(Hook { hook: S::Hook::connect(&cfg, &cx).await? }) as Box<dyn DynHook>)
            }) as BoxFuture<'static, _>
        })
    }

    fn check_position(&self, partition: &PartitionMap, offset: Option<&OffsetMap>) -> Result<()> {
        S::Partition::__decode(partition)?;
        if let Some(offset) = offset {
            S::Offset::__decode(offset)?;
        }
        Ok(())
    }
}

struct Running<S: Source> {
    source: S,
    batch: Batch<S>,
}

impl<S: Source> DynSource for Running<S> {
    fn poll(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.source.poll(&mut self.batch))
    }

    fn take(&mut self) -> Result<Polled> {
        let taken = self.batch.take()?;
        Ok(Polled {
            records: taken.raw,
            offsets: Box::new(taken.offsets),
            acks: taken.acks,
            equal_offsets: taken.equal_offsets,
        })
    }

    fn reuse_buffer(&mut self, buffer: Vec<u8>) {
        self.batch.reuse_buffer(buffer);
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(self.source.close())
    }
}

struct Hook<H> {
    hook: H,
}

impl<H: CommitHook> DynHook for Hook<H> {
    fn committed(&mut self, stored: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let positions = Committed::<H::Source>::decode(&stored)?;
            self.hook.committed(Committed { positions: &positions }).await
        })
    }
}
