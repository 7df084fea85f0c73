//! The type has no attribute.

use connect_sdk::prelude::*;
use connect_sdk::__private::Bytes;
use connect_sdk::source::PayloadRef;

struct Hex;

impl Converter for Hex {
    type Config = ();

    fn new(_: (), _: ConverterKind) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
    fn read(&self, _: &str, _: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}

fn plugins() -> Plugins {
    Plugins::new().converter::<Hex>() //~ ERROR this type has no `#[converter]`
}
