//! Methods that Kafka Connect's Java interfaces have and ours do not: what to write instead.

use super::kind::Trait;

/// Why a method with this name cannot stand in the impl, and what to do; nothing if the name is none that we know.
pub(super) fn reason(of: Trait, name: &str) -> Option<&'static str> {
    let name = crate::case::function_name(name);
    let is_converter = matches!(of, Trait::Converter | Trait::HeaderConverter);
    match name.as_str() {
        "configure" => Some(match of {
            Trait::Transformation | Trait::Predicate | Trait::HeaderConverter => {
                "it is configured when it is made: `fn new(config: Self::Config) -> Result<Self, ConfigErrors>`"
            }
            Trait::PartTransformation => {
                "it is configured when it is made: `fn new(config: Self::Config, part: Part) -> Result<Self, ConfigErrors>`"
            }
            Trait::Converter => {
                "it is configured when it is made: `fn new(config: Self::Config, kind: ConverterKind) -> Result<Self, \
                 ConfigErrors>`"
            }
        }),
        "close" => Some("it is not closed: it is dropped. Put clean-up into Drop"),
        "config" => Some("the keys of the configuration come from `type Config` and its `#[derive(ConnectorConfig)]`"),
        "version" => {
            Some("the version is an argument of the attribute: `version = \"1.2.3\"`; by default it is the crate's")
        }
        "from_connect_data" | "from_connect" | "from_connect_header" if is_converter => Some(match of {
            Trait::HeaderConverter => {
                "write `fn write_header(&self, topic: &str, name: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> \
                 Result<bool, DataError>`"
            }
            _ => {
                "write `fn write(&self, topic: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError>`"
            }
        }),
        "to_connect_data" | "to_connect" | "to_connect_header" if is_converter => Some(match of {
            Trait::HeaderConverter => {
                "write `fn read_header(&self, topic: &str, name: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, \
                 DataError>`"
            }
            _ => "write `fn read(&self, topic: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError>`",
        }),
        _ => None,
    }
}
