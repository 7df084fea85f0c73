//! The herder: decides which connectors and tasks a worker runs.

mod connector;
mod source;
mod standalone;
mod task_configs;

pub(crate) use connector::{ConnectorSpec, notices};
pub(crate) use standalone::StandaloneHerder;
