//! Configuration of connectors: what keys there are, how their text is read, and what is wrong with it.
//!
//! Connector authors write a struct with `#[derive(ConnectorConfig)]` and never meet the rest. [`ConfigDef`] and its
//! parts follow Kafka's `ConfigDef`: types, validators, recommenders, dependents, groups, message texts. The worker
//! uses them for its own keys, for the keys that every connector has, and to answer validation requests.

mod definition;
pub mod derive_support;
mod error;
mod field;
pub mod own_keys;
mod parsed;
mod password;
mod recommender;
mod report;
pub mod reserved;
mod types;
mod validator;
mod value;

pub use connect_macros::{ConfigEnum, ConnectorConfig};
pub use definition::{ConfigDef, ConfigKey};
pub use error::{ConfigError, ConfigErrors};
pub use field::{ConfigEnum, ConfigValue, ConnectorConfig};
pub use parsed::Config;
pub use password::Password;
pub use recommender::Recommender;
pub use report::ConfigValueReport;
pub use types::{ConfigType, Importance, Width};
pub use validator::{Bound, Validator};
pub use value::ParsedValue;

#[cfg(test)]
mod tests {
    #[test]
    fn the_macros_refuse_the_same_keys() {
        assert_eq!(include_str!("reserved.rs"), include_str!("../../../connect-macros/src/config/reserved.rs"));
    }

    #[test]
    fn our_own_keys_are_reserved() {
        use super::own_keys::*;
        let own = [
            BATCH_MAX_RECORDS,
            BATCH_MAX_BYTES,
            INFLIGHT_MAX_RECORDS,
            INFLIGHT_MAX_BYTES,
            PARTITIONS_REFRESH_INTERVAL_MS,
            PUT_RETRY_TIMEOUT_MS,
        ];
        assert!(own.iter().all(|(key, _)| super::reserved::reserved_by(key).is_some()));
    }
}
