//! Names of tasks.

use std::fmt;

/// A task of a connector; printed as `<connector>-<number>`, as Kafka does.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ConnectorTaskId {
    /// The connector's name.
    pub(crate) connector: String,
    /// The task's number, from 0.
    pub(crate) task: u32,
}

impl fmt::Display for ConnectorTaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.connector, self.task)
    }
}
