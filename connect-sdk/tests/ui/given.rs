//! What the cases use beside connect-sdk.

use connect_sdk::prelude::*;

/// A configuration.
#[derive(ConnectorConfig)]
pub struct Settings {
    /// The topic.
    pub topic: String,
}

/// A partition.
#[derive(SourcePartition)]
pub struct Part {
    pub name: String,
}

/// An offset.
#[derive(SourceOffset)]
pub struct At {
    pub i: i64,
}

/// Runs a future elsewhere, as executors do.
pub fn spawn<F: Future + Send + 'static>(_: F) {}

/// Waits.
pub async fn wait() {}
