//! `Filter`: drops every record that reaches it; a predicate decides which do.

use connect_sdk::config::{ConfigDef, ConfigErrors};
use connect_sdk::data::DataError;
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::transform::{ConnectRecord, TransformationClass};

pub(super) const CLASS: TransformationClass = TransformationClass {
    class: "org.apache.kafka.connect.transforms.Filter",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def: ConfigDef::new,
    make,
};

/// `org.apache.kafka.connect.transforms.Filter`.
#[derive(Debug)]
struct Filter;

#[expect(clippy::unnecessary_wraps, reason = "it has no settings that could be wrong")]
fn make(_: &Properties) -> Result<Box<dyn DynTransformation>, ConfigErrors> {
    Ok(Box::new(Filter))
}

impl DynTransformation for Filter {
    fn apply(&mut self, _: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(None)
    }
}
