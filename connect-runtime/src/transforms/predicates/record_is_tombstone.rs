//! `RecordIsTombstone`: records whose value is null.

use connect_sdk::config::{ConfigDef, ConfigErrors};
use connect_sdk::data::DataError;
use connect_sdk::erased::{DynPredicate, Properties};
use connect_sdk::transform::{ConnectRecord, PredicateClass};

pub(super) const CLASS: PredicateClass = PredicateClass {
    class: "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def: ConfigDef::new,
    make,
};

/// `org.apache.kafka.connect.transforms.predicates.RecordIsTombstone`.
#[derive(Debug)]
struct RecordIsTombstone;

#[expect(clippy::unnecessary_wraps, reason = "it has no settings that could be wrong")]
fn make(_: &Properties) -> Result<Box<dyn DynPredicate>, ConfigErrors> {
    Ok(Box::new(RecordIsTombstone))
}

impl DynPredicate for RecordIsTombstone {
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError> {
        Ok(record.value.value.is_none())
    }
}
