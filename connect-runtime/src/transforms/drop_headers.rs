//! `DropHeaders`: removes headers by name.

use super::settings::{distinct_items, key, texts};
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance};
use connect_sdk::data::{DataError, Text};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const HEADERS: &str = "headers";

pub(super) const CLASS: TransformationClass = TransformationClass {
    class: "org.apache.kafka.connect.transforms.DropHeaders",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def,
    make: |properties| Ok(Box::new(DropHeaders::new(properties)?)),
};

/// `org.apache.kafka.connect.transforms.DropHeaders`.
#[derive(Debug)]
struct DropHeaders {
    headers: Vec<Text>,
}

fn config_def() -> ConfigDef {
    let doc = "The names of the headers that are removed.";
    ConfigDef::new().define(key(HEADERS, ConfigType::List, Importance::High, doc).validator(distinct_items()))
}

impl DropHeaders {
    fn new(properties: &Properties) -> Result<Self, ConfigErrors> {
        Ok(Self { headers: texts(&config_def().parse(properties)?, HEADERS) })
    }
}

impl DynTransformation for DropHeaders {
    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        for name in &self.headers {
            record.headers.remove(name);
        }
        Ok(Some(record))
    }
}
