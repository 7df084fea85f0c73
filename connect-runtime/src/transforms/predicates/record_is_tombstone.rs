//! `RecordIsTombstone`: records whose value is null.

use connect_sdk::predicate;
use connect_sdk::transform::ConnectRecord;

/// Records whose value is null.
#[predicate(java = "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone", version = "4.3.1")]
pub(super) fn record_is_tombstone(record: &ConnectRecord) -> bool {
    record.value.value.is_none()
}
