//! Configuration of workers and connectors: the keys of Kafka Connect, and the rules between them.
//!
//! Everything here takes properties and gives values, messages or notices; nothing is opened, started or logged.

mod classes;
mod client_keys;
mod connector;
mod dead_letters;
mod distributed;
mod exactly_once;
mod guarantee;
mod infos;
mod key;
mod key_list;
mod no_effect;
mod override_policy;
mod plugin_versions;
mod providers;
mod rest_validators;
mod sink;
mod source;
mod standalone;
mod topic_creation;
mod transform_keys;
mod validation;
mod worker;
mod worker_keys;

pub use classes::KnownClasses;
pub use connector::{
    CommonSettings, ConnectorKind, check_connector, connector_config_def, own_keys_def, unknown_connector_keys,
};
pub(crate) use dead_letters::DeadLetterSettings;
pub use distributed::distributed_config_def;
pub use exactly_once::{
    ExactlyOnceMode, ExactlyOnceWorker, check_exactly_once, exactly_once_asked, exactly_once_source,
};
pub use guarantee::{Delivery, Guarantee, sink_guarantee, sink_isolation_level, source_guarantee};
pub use infos::{ConfigInfo, ConfigInfos, ConfigKeyInfo, ConfigValueInfo};
pub use key_list::{keys_as_json, keys_as_markdown, keys_as_text};
pub use override_policy::{ClientKind, OverridePolicy};
pub use providers::{ConfigProviders, Resolved};
pub use sink::{sink_connector_config_def, sink_topic_errors, sink_topics};
pub use source::source_connector_config_def;
pub use standalone::{StandaloneConfig, standalone_config_def};
pub use topic_creation::{TopicCreationGroup, TopicCreationRules};
pub use transform_keys::with_transform_keys;
pub use validation::{Validation, validate_connector};
pub use worker::{ClientDefaults, Level, Notice, WorkerConfig};
