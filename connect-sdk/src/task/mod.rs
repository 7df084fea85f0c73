//! The task loops, over object-safe ports and a clock: no executor, no socket, no Kafka client.
//!
//! The worker runs these loops on Kafka; the testkit runs the very same ones on fakes and a virtual clock.

mod convert;
pub mod errors;
pub(crate) mod guard;
mod offset_committer;
pub mod ports;
pub mod sink;
pub mod sink_offsets;
pub mod source;
mod source_config;
mod submitted_records;
mod wait;

use crate::{
    converter::{BoxConverter, BoxHeaderConverter},
    error::TaskError,
};

/// How a task loop has ended. It never starts again by itself.
#[derive(Debug)]
#[must_use = "the end of a task belongs into its status"]
pub enum TaskEnd {
    /// As asked; what was accepted is stored.
    Stopped,
    /// By itself, with this error; what was accepted is stored.
    Failed(TaskError),
}

/// The converters of a connector; its tasks share them.
#[derive(Debug, Clone)]
pub struct Converters {
    /// For keys.
    pub key: BoxConverter,
    /// For values.
    pub value: BoxConverter,
    /// For header values.
    pub header: BoxHeaderConverter,
}

/// Which task of which connector this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskInfo {
    /// The connector's name.
    pub connector: String,
    /// The task's number, from 0.
    pub index: u32,
    /// How many tasks the connector has.
    pub n_tasks: u32,
}

impl std::fmt::Display for TaskInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.connector, self.index)
    }
}

/// What a sink task or a commit hook is told when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCx {
    task: TaskInfo,
}

impl OpenCx {
    /// Which task of which connector this is.
    #[must_use]
    pub fn task(&self) -> &TaskInfo {
        &self.task
    }

    /// Made by runtimes and by the testkit.
    #[doc(hidden)]
    #[must_use]
    pub fn new(task: TaskInfo) -> Self {
        Self { task }
    }
}
