//! The settings of a sink task's loop.

use crate::{
    config::{ConfigDef, ConfigErrors, ConfigKey, ConfigType, Validator, own_keys::PUT_RETRY_TIMEOUT_MS},
    erased::Properties,
    task::errors::ErrorConfig,
};
use std::time::Duration;

/// What the loop of a sink task may do, how often, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkTaskConfig {
    /// `offset.flush.interval.ms`: a commit at least this often, and a put, with an empty batch if nothing came.
    pub offset_flush_interval: Duration,
    /// `offset.flush.timeout.ms`: how long the result of a commit is awaited before the next one may be made.
    pub offset_flush_timeout: Duration,
    /// What becomes of records that cannot be converted or transformed, or that the sink rejects. Its longest delay
    /// between two tries is also that of the doubling back-off of puts.
    pub errors: ErrorConfig,
    /// `put.retry.timeout.ms`: how long a sink may go on failing with retriable errors; `None` is for ever.
    pub put_retry_timeout: Option<Duration>,
    /// `task.shutdown.graceful.timeout.ms`: how long the last commit and `close` may take together.
    pub graceful_timeout: Duration,
}

const FLUSH_INTERVAL: &str = "offset.flush.interval.ms";
const FLUSH_TIMEOUT: &str = "offset.flush.timeout.ms";
const GRACEFUL_TIMEOUT: &str = "task.shutdown.graceful.timeout.ms";

impl SinkTaskConfig {
    /// Reads the connector's properties, to which the worker adds its own keys (`offset.flush.*`,
    /// `task.shutdown.graceful.timeout.ms`). What is not set has its default; other keys are left alone.
    ///
    /// # Errors
    /// Every value that is wrong.
    pub fn from_properties(properties: &Properties) -> Result<Self, ConfigErrors> {
        let millis = |name: &str, default: i64, min: i64| {
            ConfigKey::new(name, ConfigType::Long).default(default.to_string()).validator(Validator::at_least(min))
        };
        let (put_retry_timeout, for_ever) = PUT_RETRY_TIMEOUT_MS;
        let values = ErrorConfig::define(ConfigDef::new())
            .define(millis(FLUSH_INTERVAL, 1_000, 1))
            .define(millis(FLUSH_TIMEOUT, 5_000, 1))
            .define(millis(GRACEFUL_TIMEOUT, 5_000, 0))
            .define(millis(put_retry_timeout, for_ever, -1))
            .parse(properties)?;
        let time = |key: &str| {
            let millis = values.integer(key).and_then(|ms| u64::try_from(ms).ok());
            millis.map(Duration::from_millis)
        };
        let or_zero = |key: &str| time(key).unwrap_or_default();
        Ok(Self {
            offset_flush_interval: or_zero(FLUSH_INTERVAL),
            offset_flush_timeout: or_zero(FLUSH_TIMEOUT),
            errors: ErrorConfig::read(&values),
            put_retry_timeout: time(put_retry_timeout),
            graceful_timeout: or_zero(GRACEFUL_TIMEOUT),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<SinkTaskConfig, ConfigErrors> {
        SinkTaskConfig::from_properties(&pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn what_is_not_set_has_its_default() {
        let config = read(&[("topics", "t")]).unwrap();
        assert_eq!(config.offset_flush_interval, Duration::from_secs(1));
        assert_eq!(config.put_retry_timeout, None);
        assert!(!config.errors.tolerate);
    }

    #[test]
    fn values_are_read_and_every_wrong_one_is_told() {
        let config = read(&[("put.retry.timeout.ms", "0"), ("errors.tolerance", "all")]).unwrap();
        assert_eq!(config.put_retry_timeout, Some(Duration::ZERO));
        assert!(config.errors.tolerate);
        let errors =
            read(&[("put.retry.timeout.ms", "-2"), ("errors.tolerance", "some"), ("offset.flush.interval.ms", "x")]);
        assert_eq!(errors.unwrap_err().len(), 3);
    }
}
