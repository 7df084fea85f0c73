//! `HasHeaderKey`: records with a header of this name.

use connect_sdk::config::{ConnectorConfig, Validator};
use connect_sdk::data::Text;
use connect_sdk::predicate;
use connect_sdk::transform::ConnectRecord;

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = predicate)]
pub(super) struct HasHeaderKeyConfig {
    /// The name of the header.
    #[config(validator = Validator::non_empty_string())]
    name: Text,
}

/// Records with a header of this name.
#[predicate(java = "org.apache.kafka.connect.transforms.predicates.HasHeaderKey", version = "4.3.1")]
pub(super) fn has_header_key(config: &HasHeaderKeyConfig, record: &ConnectRecord) -> bool {
    record.headers.last_with_name(&config.name).is_some()
}
