//! `SourceTaskConfig`: the settings of a source task, from the connector's properties and the worker's defaults.

use crate::{
    config::{ConfigDef, ConfigErrors, ConfigKey, ConfigType, Importance, Validator, own_keys},
    erased::Properties,
    source::BatchLimits,
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

/// The settings of a source task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceTaskConfig {
    /// `batch.max.records` and `batch.max.bytes`.
    pub batch: BatchLimits,
    /// `inflight.max.records`: no poll while so many records wait for their acknowledgement.
    pub inflight_records_max: usize,
    /// `inflight.max.bytes`: no poll while so many bytes wait for their acknowledgement.
    pub inflight_bytes_max: usize,
    /// `errors.tolerance=all`: records that cannot be converted, or that the broker refuses, are skipped.
    pub tolerate_errors: bool,
    /// `errors.log.enable`: skipped records are logged, once a batch.
    pub log_errors: bool,
    /// `errors.retry.timeout`: how long a source is opened again after retriable errors in a row; `None` is for ever.
    ///
    /// 0 is for ever, too: that is the default, and Kafka tries a retriable poll again without limit.
    pub retry_timeout: Option<Duration>,
    /// `errors.retry.delay.max.ms`: the longest delay between two of these.
    pub retry_delay_max: Duration,
    /// The worker's part.
    pub worker: SourceWorkerValues,
}

impl SourceTaskConfig {
    fn own_def() -> ConfigDef {
        let key = |(name, default): (&str, i64), max: i64, doc: &'static str| {
            ConfigKey::new(name, ConfigType::Long)
                .default(default.to_string())
                .validator(Validator::between(1, max))
                .importance(Importance::Low)
                .doc(doc)
        };
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
    }

    /// Reads the settings out of a connector's properties.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn from_properties(properties: &Properties, worker: SourceWorkerValues) -> Result<Self, ConfigErrors> {
        let long = |name: &str, default: &str| ConfigKey::new(name, ConfigType::Long).default(default);
        let def = Self::own_def()
            .define(long("errors.retry.timeout", "0"))
            .define(long("errors.retry.delay.max.ms", "60000"))
            .define(
                ConfigKey::new("errors.tolerance", ConfigType::String)
                    .default("none")
                    .validator(Validator::valid_string(["none", "all"])),
            )
            .define(ConfigKey::new("errors.log.enable", ConfigType::Boolean).default("false"));
        let config = def.parse(properties)?;
        let size = |(name, default): (&str, i64)| {
            usize::try_from(config.integer(name).unwrap_or(default)).unwrap_or(usize::MAX)
        };
        let ms = |name: &str| config.integer(name).and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        Ok(Self {
            batch: BatchLimits { records: size(own_keys::BATCH_MAX_RECORDS), bytes: size(own_keys::BATCH_MAX_BYTES) },
            inflight_records_max: size(own_keys::INFLIGHT_MAX_RECORDS),
            inflight_bytes_max: size(own_keys::INFLIGHT_MAX_BYTES),
            tolerate_errors: config.string("errors.tolerance") == Some("all"),
            log_errors: config.boolean("errors.log.enable") == Some(true),
            retry_timeout: ms("errors.retry.timeout").filter(|d| !d.is_zero()),
            retry_delay_max: ms("errors.retry.delay.max.ms").unwrap_or_default().max(Duration::from_millis(1)),
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
        assert!(!config.tolerate_errors && !config.log_errors);
        assert_eq!((config.retry_timeout, config.retry_delay_max), (None, Duration::from_secs(60)));
    }

    #[test]
    fn values_are_read_and_all_mistakes_are_told_at_once() {
        let config = read(&[("errors.tolerance", "all"), ("errors.retry.timeout", "2000"), ("batch.max.records", "7")]);
        let config = config.unwrap();
        assert!(config.tolerate_errors);
        assert_eq!((config.retry_timeout, config.batch.records), (Some(Duration::from_secs(2)), 7));
        let wrong = [("batch.max.records", "0"), ("inflight.max.bytes", "many"), ("errors.tolerance", "some")];
        let errors = read(&wrong).unwrap_err();
        for (key, _) in wrong {
            assert!(errors.iter().any(|e| e.key() == Some(key)), "{key}: {errors}");
        }
    }
}
