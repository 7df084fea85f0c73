//! States of connectors and tasks, under Kafka's names.

use std::fmt;

/// What a connector or a task is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// Not started yet, or stopped with the worker.
    Unassigned,
    /// Works.
    Running,
    /// Paused as asked.
    Paused,
    /// Ended by an error, with its trace.
    Failed(String),
}

impl State {
    /// Kafka's word for it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Unassigned => "UNASSIGNED",
            Self::Running => "RUNNING",
            Self::Paused => "PAUSED",
            Self::Failed(_) => "FAILED",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
