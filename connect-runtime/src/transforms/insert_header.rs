//! `InsertHeader`: adds a header with a fixed value, whose type is that of its text.

use connect_sdk::config::{ConfigErrors, ConnectorConfig, Validator};
use connect_sdk::data::values::parse_text;
use connect_sdk::data::{DataError, Text};
use connect_sdk::header::Header;
use connect_sdk::transform::{ConnectRecord, Transformation};
use connect_sdk::transformation;

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct InsertHeaderConfig {
    /// The name of the header.
    #[config(importance = high, validator = Validator::non_null())]
    header: Text,
    /// The value of the header: text, or what text can stand for: `5`, `true`, `[1,2]`, `2020-02-29`.
    #[config(importance = high, validator = Validator::non_null())]
    value_literal: Text,
}

/// `org.apache.kafka.connect.transforms.InsertHeader`.
#[derive(Debug)]
pub(super) struct InsertHeader {
    header: Header,
}

/// Adds a header with a fixed value, whose type is that of its text.
#[transformation(java = "org.apache.kafka.connect.transforms.InsertHeader", version = "4.3.1")]
impl Transformation for InsertHeader {
    type Config = InsertHeaderConfig;

    fn new(config: InsertHeaderConfig) -> Result<Self, ConfigErrors> {
        let value = parse_text(&config.value_literal);
        Ok(Self { header: Header::new(config.header, value.schema, value.value) })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        record.headers.push(self.header.clone());
        Ok(Some(record))
    }
}
