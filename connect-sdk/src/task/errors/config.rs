//! `ErrorConfig`: the keys `errors.*` that both kinds of tasks follow.

use crate::config::{Config, ConfigDef, ConfigKey, ConfigType, Validator};
use std::time::Duration;

/// How a task treats records that a step cannot take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorConfig {
    /// `errors.tolerance=all`: they are skipped, and counted; else the first one fails the task.
    pub tolerate: bool,
    /// `errors.log.enable`: each of them gets a line in the log.
    pub log: bool,
    /// `errors.log.include.messages`: the line says which record it was; of a source it has the whole record.
    pub log_messages: bool,
    /// `errors.retry.timeout`: how long a step is tried again that may work later; zero is not at all, `None` for ever.
    pub retry_timeout: Option<Duration>,
    /// `errors.retry.delay.max.ms`: the longest wait between two tries.
    pub retry_delay_max: Duration,
}

const TOLERANCE: &str = "errors.tolerance";
const LOG: &str = "errors.log.enable";
const LOG_MESSAGES: &str = "errors.log.include.messages";
const RETRY_TIMEOUT: &str = "errors.retry.timeout";
const RETRY_DELAY_MAX: &str = "errors.retry.delay.max.ms";

impl ErrorConfig {
    /// Adds the keys to a definition, with Kafka's types and defaults.
    pub(crate) fn define(def: ConfigDef) -> ConfigDef {
        let key = |name: &str, kind, default: &str| ConfigKey::new(name, kind).default(default);
        def.define(key(TOLERANCE, ConfigType::String, "none").validator(Validator::valid_string(["none", "all"])))
            .define(key(LOG, ConfigType::Boolean, "false"))
            .define(key(LOG_MESSAGES, ConfigType::Boolean, "false"))
            .define(key(RETRY_TIMEOUT, ConfigType::Long, "0"))
            .define(key(RETRY_DELAY_MAX, ConfigType::Long, "60000"))
    }

    /// Reads what [`Self::define`] has defined.
    pub(crate) fn read(config: &Config) -> Self {
        let ms = |key| config.integer(key).and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        Self {
            tolerate: config.string(TOLERANCE) == Some("all"),
            log: config.boolean(LOG) == Some(true),
            log_messages: config.boolean(LOG_MESSAGES) == Some(true),
            retry_timeout: ms(RETRY_TIMEOUT),
            // Kafka checks no range; a wait of nothing at all would be a busy loop.
            retry_delay_max: ms(RETRY_DELAY_MAX).unwrap_or_default().max(Duration::from_millis(1)),
        }
    }
}
