//! `HasHeaderKey`: records with a header of this name.

use crate::transforms::settings::{key, text};
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance, Validator};
use connect_sdk::data::{DataError, Text};
use connect_sdk::erased::{DynPredicate, Properties};
use connect_sdk::transform::{ConnectRecord, PredicateClass};

const NAME: &str = "name";

pub(super) const CLASS: PredicateClass = PredicateClass {
    class: "org.apache.kafka.connect.transforms.predicates.HasHeaderKey",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def,
    make: |properties| Ok(Box::new(HasHeaderKey::new(properties)?)),
};

/// `org.apache.kafka.connect.transforms.predicates.HasHeaderKey`.
#[derive(Debug)]
struct HasHeaderKey {
    name: Text,
}

fn config_def() -> ConfigDef {
    let doc = "The name of the header.";
    let name = key(NAME, ConfigType::String, Importance::Medium, doc).validator(Validator::non_empty_string());
    ConfigDef::new().define(name)
}

impl HasHeaderKey {
    fn new(properties: &Properties) -> Result<Self, ConfigErrors> {
        Ok(Self { name: text(&config_def().parse(properties)?, NAME) })
    }
}

impl DynPredicate for HasHeaderKey {
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError> {
        Ok(record.headers.last_with_name(&self.name).is_some())
    }
}
