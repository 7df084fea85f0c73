//! Sinks without their types.

use super::{BoxFuture, Properties};
use crate::{
    config::{ConfigDef, ConfigErrors, ConnectorConfig},
    error::{Result, TaskError},
    sink::{
        CloseReason, PreCommit, PutCx, Safe, SinkConnector, SinkMeta, SinkRecord, SinkTask, StartOffsets,
        TopicPartition,
    },
    task::OpenCx,
};
use std::{fmt, marker::PhantomData};

/// A sink connector: everything that can be asked without a task.
pub trait DynSinkConnector: Send + Sync {
    /// Its description.
    fn meta(&self) -> &'static SinkMeta;
    /// Its configuration keys.
    fn config_def(&self) -> ConfigDef;
    /// Reads the configuration.
    ///
    /// # Errors
    /// Every problem of the configuration.
    fn check(&self, props: &Properties) -> Result<(), ConfigErrors>;
    /// Starts a life of a task.
    fn open(&self, props: Properties, cx: OpenCx) -> BoxFuture<'static, Result<Box<dyn DynSink>>>;
}

/// One life of a sink task.
pub trait DynSink: Send {
    /// True if a failed put leaves its records in `records`, to be lent again.
    fn lends(&self) -> bool;
    /// Hands records over (or lends them, see [`Self::lends`]).
    fn put<'a>(&'a mut self, records: &'a mut Vec<SinkRecord>, cx: &'a mut PutCx) -> BoxFuture<'a, Result<()>>;
    /// Asks what is safe.
    fn pre_commit<'c>(&'c mut self, at: PreCommit<'c>) -> BoxFuture<'c, Result<Safe<'c>>>;
    /// Tells which partitions were given.
    fn assigned<'a>(&'a mut self, partitions: &'a [TopicPartition]) -> BoxFuture<'a, Result<StartOffsets>>;
    /// Tells which partitions were taken.
    fn closed<'a>(&'a mut self, partitions: &'a [TopicPartition], why: CloseReason) -> BoxFuture<'a, Result<()>>;
    /// Ends it.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

impl fmt::Debug for dyn DynSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynSink")
    }
}

/// Makes a [`DynSinkConnector`] of any sink connector.
pub struct SinkDescriptor<S>(PhantomData<fn() -> S>);

impl<S> SinkDescriptor<S> {
    /// The descriptor of `S`.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<S> Default for SinkDescriptor<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for SinkDescriptor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SinkDescriptor<{}>", std::any::type_name::<S>())
    }
}

type ConfigOf<S> = <<S as SinkConnector>::Task as SinkTask>::Config;

impl<S: SinkConnector> DynSinkConnector for SinkDescriptor<S> {
    fn meta(&self) -> &'static SinkMeta {
        const { &S::META }
    }

    fn config_def(&self) -> ConfigDef {
        ConfigOf::<S>::config_def()
    }

    fn check(&self, props: &Properties) -> Result<(), ConfigErrors> {
        ConfigOf::<S>::from_properties(props).map(drop)
    }

    fn open(&self, props: Properties, cx: OpenCx) -> BoxFuture<'static, Result<Box<dyn DynSink>>> {
        Box::pin(async move {
            let cfg = ConfigOf::<S>::from_properties(&props).map_err(TaskError::fatal)?;
            Ok(Box::new(Running(S::Task::open(&cfg, &cx).await?)) as Box<dyn DynSink>)
        })
    }
}

struct Running<T>(T);

impl<T: SinkTask> DynSink for Running<T> {
    fn lends(&self) -> bool {
        T::LENDS
    }

    fn put<'a>(&'a mut self, records: &'a mut Vec<SinkRecord>, cx: &'a mut PutCx) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.put(records, cx))
    }

    fn pre_commit<'c>(&'c mut self, at: PreCommit<'c>) -> BoxFuture<'c, Result<Safe<'c>>> {
        Box::pin(self.0.pre_commit(at))
    }

    fn assigned<'a>(&'a mut self, partitions: &'a [TopicPartition]) -> BoxFuture<'a, Result<StartOffsets>> {
        Box::pin(self.0.assigned(partitions))
    }

    fn closed<'a>(&'a mut self, partitions: &'a [TopicPartition], why: CloseReason) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.closed(partitions, why))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(self.0.close())
    }
}
