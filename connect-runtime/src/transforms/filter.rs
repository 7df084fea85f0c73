//! `Filter`: drops every record that reaches it; a predicate decides which do.

use connect_sdk::transform::ConnectRecord;
use connect_sdk::transformation;

/// Drops every record that reaches it.
#[transformation(java = "org.apache.kafka.connect.transforms.Filter", version = "4.3.1")]
pub(super) fn filter(_: ConnectRecord) -> Option<ConnectRecord> {
    None
}
