//! The converter cannot be used by several tasks.

use connect_sdk::prelude::*;
use connect_sdk::__private::Bytes;
use connect_sdk::source::PayloadRef;

struct Hex(std::cell::Cell<u8>);

#[converter]
impl Converter for Hex { //~ ERROR cannot be shared between threads safely
    type Config = ();

    fn new(_: (), _: ConverterKind) -> Result<Self, ConfigErrors> {
        Ok(Self(std::cell::Cell::new(0)))
    }
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
    fn read(&self, _: &str, _: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}
