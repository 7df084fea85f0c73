//! The converter does not read.

use connect_sdk::prelude::*;
use connect_sdk::__private::Bytes;
use connect_sdk::source::PayloadRef;

struct Hex;

#[converter]
impl Converter for Hex { //~ ERROR missing: `read`
    type Config = ();

    fn new(_: (), _: ConverterKind) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
}
