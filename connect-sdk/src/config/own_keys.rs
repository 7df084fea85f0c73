//! Keys of our own that every connector has beside those of Kafka Connect, with their defaults.

/// Our own key: how many records one batch of a source may hold.
pub const BATCH_MAX_RECORDS: (&str, i64) = ("batch.max.records", 2_000);
/// Our own key: how many bytes one batch of a source may hold.
pub const BATCH_MAX_BYTES: (&str, i64) = ("batch.max.bytes", 1 << 20);
/// Our own key: how many records of a source task may wait for their acknowledgement.
pub const INFLIGHT_MAX_RECORDS: (&str, i64) = ("inflight.max.records", 100_000);
/// Our own key: how many bytes of a source task may wait for their acknowledgement.
pub const INFLIGHT_MAX_BYTES: (&str, i64) = ("inflight.max.bytes", 32 << 20);
/// Our own key: how often a source is asked for its partitions again, in milliseconds; 0 is never.
pub const PARTITIONS_REFRESH_INTERVAL_MS: (&str, i64) = ("partitions.refresh.interval.ms", 0);
/// Our own key: how long a sink's put is tried again after retriable errors, in milliseconds; -1 is for ever.
pub const PUT_RETRY_TIMEOUT_MS: (&str, i64) = ("put.retry.timeout.ms", -1);
/// Our own key: whether this source connector writes exactly once, whatever the worker does with others; not set, the
/// worker's key of the same name decides.
pub const EXACTLY_ONCE_SOURCE_SUPPORT: &str = "exactly.once.source.support";
/// Our own key: with `transaction.boundary=interval`, a transaction also ends with the poll that brings it to so many
/// bytes; 0 is no such limit.
pub const TRANSACTION_BOUNDARY_MAX_BYTES: (&str, i64) = ("transaction.boundary.max.bytes", 0);
/// Our own key: with `transaction.boundary=interval`, a transaction also ends with the poll that brings it to so many
/// records; 0 is no such limit.
pub const TRANSACTION_BOUNDARY_MAX_RECORDS: (&str, i64) = ("transaction.boundary.max.records", 0);
