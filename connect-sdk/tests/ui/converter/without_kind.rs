//! The converter is not told what it serves.

use connect_sdk::prelude::*;
use connect_sdk::__private::Bytes;
use connect_sdk::source::PayloadRef;

struct Hex;

#[converter]
impl Converter for Hex {
    type Config = ();

    fn new(_: ()) -> Result<Self, ConfigErrors> { //~ ERROR expected 2 parameters, found 1
        Ok(Self)
    }
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
    fn read(&self, _: &str, _: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}
