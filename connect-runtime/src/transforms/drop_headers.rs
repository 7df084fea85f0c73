//! `DropHeaders`: removes headers by name.

use super::settings::distinct_items;
use connect_sdk::config::ConnectorConfig;
use connect_sdk::data::Text;
use connect_sdk::transform::ConnectRecord;
use connect_sdk::transformation;

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct DropHeadersConfig {
    /// The names of the headers that are removed.
    #[config(importance = high, validator = distinct_items())]
    headers: Vec<Text>,
}

/// Removes headers by name.
#[transformation(java = "org.apache.kafka.connect.transforms.DropHeaders", version = "4.3.1")]
pub(super) fn drop_headers(config: &DropHeadersConfig, mut record: ConnectRecord) -> ConnectRecord {
    for name in &config.headers {
        record.headers.remove(name);
    }
    record
}
