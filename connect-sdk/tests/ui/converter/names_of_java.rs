//! The methods have the names of the Java interface.

use connect_sdk::prelude::*;
use connect_sdk::__private::Bytes;
use connect_sdk::source::PayloadRef;

struct Hex;

#[converter]
impl Converter for Hex {
    type Config = ();

    fn new(_: (), _: ConverterKind) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn from_connect_data(&self) {} //~ ERROR write `fn write(&self, topic: &str, value: PayloadRef<'_>
    fn to_connect_data(&self) {} //~ ERROR write `fn read(&self, topic: &str, bytes: Option<&Bytes>)
    fn configure(&mut self) {} //~ ERROR `fn new(config: Self::Config, kind: ConverterKind)
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
    fn read(&self, _: &str, _: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}
