//! The key that the worker sets, found where the configuration is used.

use connect_sdk::prelude::*;
use connect_sdk::__private::Bytes;
use connect_sdk::source::PayloadRef;

#[derive(ConnectorConfig)]
struct Settings {
    /// What it is for.
    converter_type: String,
}

struct Hex;

#[converter]
impl Converter for Hex {
    type Config = Settings; //~ ERROR the key `converter.type` is not free: every converter has it

    fn new(_: Settings, _: ConverterKind) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
    fn read(&self, _: &str, _: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}
