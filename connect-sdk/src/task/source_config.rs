//! `SourceTaskConfig`: the settings of a source task, from the connector's properties and the worker's defaults.

use crate::{
    config::{ConfigDef, ConfigErrors, ConfigKey, ConfigType, Importance, Validator, own_keys},
    erased::Properties,
    source::BatchLimits,
    task::errors::ErrorConfig,
};
use std::time::Duration;

/// How many bytes one batch may be told to hold: places in a batch are 32 bits wide, and converters may double a text.
const BATCH_BYTES_LIMIT: i64 = 1 << 30;

/// What a worker hands to all its source tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceWorkerValues {
    /// `offset.flush.interval.ms`: how often accepted offsets are stored.
    pub offset_flush_interval: Duration,
    /// `offset.flush.timeout.ms`: how long storing may take, and how long acknowledgements are awaited at an end.
    pub offset_flush_timeout: Duration,
    /// `task.shutdown.graceful.timeout.ms`: how long closing a source may take.
    pub shutdown_graceful_timeout: Duration,
}

impl Default for SourceWorkerValues {
    fn default() -> Self {
        Self {
            offset_flush_interval: Duration::from_secs(1),
            offset_flush_timeout: Duration::from_secs(5),
            shutdown_graceful_timeout: Duration::from_secs(5),
        }
    }
}

/// Where the transactions of an exactly-once task end (`transaction.boundary`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionBoundary {
    /// With each poll that gave something.
    Poll,
    /// After this time, or with the poll that brings the transaction to one of these sizes.
    Interval {
        /// `transaction.boundary.interval.ms`.
        interval: Duration,
        /// `transaction.boundary.max.records`.
        records_max: u64,
        /// `transaction.boundary.max.bytes`.
        bytes_max: u64,
    },
    /// Where the connector has set a mark.
    Connector,
}

/// The settings of a source task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceTaskConfig {
    /// `batch.max.records` and `batch.max.bytes`.
    pub batch: BatchLimits,
    /// `inflight.max.records`: no poll while so many records wait for their acknowledgement.
    pub inflight_records_max: usize,
    /// `inflight.max.bytes`: no poll while so many bytes wait for their acknowledgement.
    pub inflight_bytes_max: usize,
    /// What becomes of records that cannot be transformed or converted, or that are refused.
    pub errors: ErrorConfig,
    /// `errors.retry.timeout`: how long a source is opened again after retriable errors in a row; `None` is for ever.
    ///
    /// 0 is for ever, too: that is the default, and Kafka tries a retriable poll again without limit.
    pub retry_timeout: Option<Duration>,
    /// `errors.retry.delay.max.ms`: the longest delay between two of these.
    pub retry_delay_max: Duration,
    /// Where transactions end, if the task writes exactly once.
    pub boundary: TransactionBoundary,
    /// The worker's part.
    pub worker: SourceWorkerValues,
}

impl SourceTaskConfig {
    fn own_def() -> ConfigDef {
        let from = |min: i64, (name, default): (&str, i64), max: i64, doc: &'static str| {
            ConfigKey::new(name, ConfigType::Long)
                .default(default.to_string())
                .validator(Validator::between(min, max))
                .importance(Importance::Low)
                .doc(doc)
        };
        let key = |key: (&str, i64), max: i64, doc: &'static str| from(1, key, max, doc);
        ConfigDef::new()
            .define(key(
                own_keys::BATCH_MAX_RECORDS,
                i64::from(i32::MAX),
                "How many records one poll of a source may give before it is asked to return.",
            ))
            .define(key(
                own_keys::BATCH_MAX_BYTES,
                BATCH_BYTES_LIMIT,
                "How many bytes of keys, values and headers one poll of a source may give before it is asked to return.",
            ))
            .define(key(
                own_keys::INFLIGHT_MAX_RECORDS,
                i64::from(i32::MAX),
                "A source task does not poll while so many of its records wait for their acknowledgement.",
            ))
            .define(key(
                own_keys::INFLIGHT_MAX_BYTES,
                i64::MAX,
                "A source task does not poll while so many bytes of its records wait for their acknowledgement.",
            ))
            .define(from(
                0,
                own_keys::TRANSACTION_BOUNDARY_MAX_RECORDS,
                i64::MAX,
                "With `transaction.boundary=interval`, a transaction also ends with the poll that brings it to so many \
                 records; 0 is no limit.",
            ))
            .define(from(
                0,
                own_keys::TRANSACTION_BOUNDARY_MAX_BYTES,
                i64::MAX,
                "With `transaction.boundary=interval`, a transaction also ends with the poll that brings it to so many \
                 bytes; 0 is no limit.",
            ))
    }

    /// Reads the settings out of a connector's properties.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn from_properties(properties: &Properties, worker: SourceWorkerValues) -> Result<Self, ConfigErrors> {
        let def = ErrorConfig::define(Self::own_def())
            .define(
                ConfigKey::new("transaction.boundary", ConfigType::String)
                    .default("poll")
                    .validator(Validator::case_insensitive_valid_string(["poll", "interval", "connector"])),
            )
            .define(
                ConfigKey::new("transaction.boundary.interval.ms", ConfigType::Long)
                    .null_default()
                    .validator(Validator::at_least(0).or_null()),
            );
        let config = def.parse(properties)?;
        let size = |(name, default): (&str, i64)| {
            usize::try_from(config.integer(name).unwrap_or(default)).unwrap_or(usize::MAX)
        };
        // 0 is no limit.
        let limit = |(name, default): (&str, i64)| {
            u64::try_from(config.integer(name).unwrap_or(default)).ok().filter(|n| *n > 0).unwrap_or(u64::MAX)
        };
        let ms = |name: &str| config.integer(name).and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        let errors = ErrorConfig::read(&config);
        Ok(Self {
            batch: BatchLimits { records: size(own_keys::BATCH_MAX_RECORDS), bytes: size(own_keys::BATCH_MAX_BYTES) },
            inflight_records_max: size(own_keys::INFLIGHT_MAX_RECORDS),
            inflight_bytes_max: size(own_keys::INFLIGHT_MAX_BYTES),
            errors,
            retry_timeout: errors.retry_timeout.filter(|d| !d.is_zero()),
            boundary: match config.string("transaction.boundary").unwrap_or_default().to_ascii_lowercase().as_str() {
                "connector" => TransactionBoundary::Connector,
                "interval" => {
                    let interval = ms("transaction.boundary.interval.ms").unwrap_or(worker.offset_flush_interval);
                    // A transaction that lasts no time ends with its poll.
                    if interval.is_zero() {
                        TransactionBoundary::Poll
                    } else {
                        TransactionBoundary::Interval {
                            interval,
                            records_max: limit(own_keys::TRANSACTION_BOUNDARY_MAX_RECORDS),
                            bytes_max: limit(own_keys::TRANSACTION_BOUNDARY_MAX_BYTES),
                        }
                    }
                }
                _ => TransactionBoundary::Poll,
            },
            retry_delay_max: errors.retry_delay_max,
            worker,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(properties: &[(&str, &str)]) -> Result<SourceTaskConfig, ConfigErrors> {
        let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        SourceTaskConfig::from_properties(&properties, SourceWorkerValues::default())
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        let config = read(&[]).unwrap();
        assert_eq!(config.batch, BatchLimits { records: 2000, bytes: 1 << 20 });
        assert_eq!((config.inflight_records_max, config.inflight_bytes_max), (100_000, 32 << 20));
        assert!(!config.errors.tolerate && !config.errors.log);
        assert_eq!((config.retry_timeout, config.retry_delay_max), (None, Duration::from_secs(60)));
        assert_eq!(config.boundary, TransactionBoundary::Poll);
    }

    #[test]
    fn boundaries_of_transactions_are_read_as_kafka_reads_them() {
        let boundary = |properties: &[(&str, &str)]| read(properties).unwrap().boundary;
        assert_eq!(boundary(&[("transaction.boundary", "CONNECTOR")]), TransactionBoundary::Connector);
        let interval = ("transaction.boundary", "Interval");
        let (records_max, bytes_max) = (u64::MAX, u64::MAX);
        let flush_interval = SourceWorkerValues::default().offset_flush_interval;
        let expected = TransactionBoundary::Interval { interval: flush_interval, records_max, bytes_max };
        assert_eq!(boundary(&[interval]), expected, "the worker's flush interval where none is set");
        let limits = [("transaction.boundary.max.records", "5"), ("transaction.boundary.interval.ms", "250")];
        let expected =
            TransactionBoundary::Interval { interval: Duration::from_millis(250), records_max: 5, bytes_max };
        assert_eq!(boundary(&[&[interval], &limits[..]].concat()), expected);
        let at_once = [interval, ("transaction.boundary.interval.ms", "0")];
        assert_eq!(boundary(&at_once), TransactionBoundary::Poll);
        let wrong = [("transaction.boundary", "batch"), ("transaction.boundary.interval.ms", "-1")];
        assert_eq!(read(&wrong).unwrap_err().len(), 2);
    }

    #[test]
    fn values_are_read_and_all_mistakes_are_told_at_once() {
        let config = read(&[("errors.tolerance", "all"), ("errors.retry.timeout", "2000"), ("batch.max.records", "7")]);
        let config = config.unwrap();
        assert!(config.errors.tolerate);
        assert_eq!((config.retry_timeout, config.batch.records), (Some(Duration::from_secs(2)), 7));
        let wrong = [("batch.max.records", "0"), ("inflight.max.bytes", "many"), ("errors.tolerance", "some")];
        let errors = read(&wrong).unwrap_err();
        for (key, _) in wrong {
            assert!(errors.iter().any(|e| e.key() == Some(key)), "{key}: {errors}");
        }
    }
}
