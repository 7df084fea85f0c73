//! What `#[sink_connector]` adds to a sink, and the adapter that makes a direct sink a buffered one.

use super::{BufferedSink, CloseReason, DirectSink, PreCommit, PutCx, Safe, SinkRecord, StartOffsets, TopicPartition};
use crate::{error::Result, task::OpenCx};

/// A sink with its description; implemented by `#[sink_connector(..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sink connector",
    label = "this type has no `#[sink_connector(..)]` on its `impl DirectSink` or `impl BufferedSink`"
)]
pub trait SinkConnector: Sized + Send + 'static {
    /// The description.
    const META: SinkMeta;
    /// What the framework runs: the sink itself, or [`Direct`] around it.
    type Task: SinkTask;
}

/// The description of a sink connector.
#[derive(Debug, Clone, Copy)]
pub struct SinkMeta {
    /// The class text that users write.
    pub name: &'static str,
    /// The Java class it stands for, if any.
    pub java: Option<&'static str>,
    /// The version of the crate that defines it.
    pub version: &'static str,
    /// The doc comment on its impl.
    pub doc: &'static str,
    /// The Rust type, for messages.
    pub type_name: &'static str,
}

/// A [`DirectSink`] as the framework runs it: what was put is written.
#[derive(Debug)]
pub struct Direct<S>(S);

/// The framework's view of both kinds of sinks.
#[doc(hidden)]
pub trait SinkTask: Sized + Send + 'static {
    type Config: crate::config::ConnectorConfig;
    /// True if a failed put left its records with the framework, so that they can be lent again.
    const LENDS: bool;
    fn open(cfg: &Self::Config, cx: &OpenCx) -> impl Future<Output = Result<Self>> + Send;
    /// A lending sink leaves `records` as they are; another takes them.
    fn put(&mut self, records: &mut Vec<SinkRecord>, cx: &mut PutCx) -> impl Future<Output = Result<()>> + Send;
    fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> impl Future<Output = Result<Safe<'c>>> + Send;
    fn assigned(&mut self, partitions: &[TopicPartition]) -> impl Future<Output = Result<StartOffsets>> + Send;
    fn closed(&mut self, partitions: &[TopicPartition], why: CloseReason) -> impl Future<Output = Result<()>> + Send;
    fn close(self) -> impl Future<Output = ()> + Send;
}

impl<S: BufferedSink> SinkTask for S {
    type Config = S::Config;
    const LENDS: bool = false;

    fn open(cfg: &S::Config, cx: &OpenCx) -> impl Future<Output = Result<Self>> + Send {
        S::open(cfg, cx)
    }
    fn put(&mut self, records: &mut Vec<SinkRecord>, cx: &mut PutCx) -> impl Future<Output = Result<()>> + Send {
        BufferedSink::put(self, std::mem::take(records), cx)
    }
    fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> impl Future<Output = Result<Safe<'c>>> + Send {
        BufferedSink::pre_commit(self, at)
    }
    fn assigned(&mut self, partitions: &[TopicPartition]) -> impl Future<Output = Result<StartOffsets>> + Send {
        BufferedSink::assigned(self, partitions)
    }
    fn closed(&mut self, partitions: &[TopicPartition], why: CloseReason) -> impl Future<Output = Result<()>> + Send {
        BufferedSink::closed(self, partitions, why)
    }
    fn close(self) -> impl Future<Output = ()> + Send {
        BufferedSink::close(self)
    }
}

impl<S: DirectSink> SinkTask for Direct<S> {
    type Config = S::Config;
    const LENDS: bool = true;

    async fn open(cfg: &S::Config, cx: &OpenCx) -> Result<Self> {
        S::open(cfg, cx).await.map(Self)
    }
    fn put(&mut self, records: &mut Vec<SinkRecord>, cx: &mut PutCx) -> impl Future<Output = Result<()>> + Send {
        self.0.put(records, cx)
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(offsets) => offsets.all(),
            PreCommit::Closing(offsets) => offsets.all_written(),
        })
    }
    fn assigned(&mut self, partitions: &[TopicPartition]) -> impl Future<Output = Result<StartOffsets>> + Send {
        self.0.assigned(partitions)
    }
    fn closed(&mut self, partitions: &[TopicPartition], why: CloseReason) -> impl Future<Output = Result<()>> + Send {
        self.0.closed(partitions, why)
    }
    fn close(self) -> impl Future<Output = ()> + Send {
        self.0.close()
    }
}
