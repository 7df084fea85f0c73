//! `InsertHeader`: adds a header with a fixed value, whose type is that of its text.

use super::settings::{key, text};
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance, Validator};
use connect_sdk::data::DataError;
use connect_sdk::data::values::parse_text;
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::header::Header;
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const HEADER: &str = "header";
const LITERAL: &str = "value.literal";

pub(super) const CLASS: TransformationClass = TransformationClass {
    class: "org.apache.kafka.connect.transforms.InsertHeader",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def,
    make: |properties| Ok(Box::new(InsertHeader::new(properties)?)),
};

/// `org.apache.kafka.connect.transforms.InsertHeader`.
#[derive(Debug)]
struct InsertHeader {
    header: Header,
}

fn config_def() -> ConfigDef {
    let literal = "The value of the header: text, or what text can stand for: `5`, `true`, `[1,2]`, `2020-02-29`.";
    ConfigDef::new()
        .define(
            key(HEADER, ConfigType::String, Importance::High, "The name of the header.")
                .validator(Validator::non_null()),
        )
        .define(key(LITERAL, ConfigType::String, Importance::High, literal).validator(Validator::non_null()))
}

impl InsertHeader {
    fn new(properties: &Properties) -> Result<Self, ConfigErrors> {
        let config = config_def().parse(properties)?;
        let value = parse_text(&text(&config, LITERAL));
        Ok(Self { header: Header::new(text(&config, HEADER), value.schema, value.value) })
    }
}

impl DynTransformation for InsertHeader {
    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        record.headers.push(self.header.clone());
        Ok(Some(record))
    }
}
