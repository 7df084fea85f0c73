//! The attribute stands on a generic converter.

use connect_sdk::prelude::*;
use connect_sdk::__private::Bytes;
use connect_sdk::source::PayloadRef;

struct Hex<T>(T);

#[converter]
impl<T: Default + Send + Sync + 'static> Converter for Hex<T> { //~ ERROR a converter cannot be generic
    type Config = ();

    fn new(_: (), _: ConverterKind) -> Result<Self, ConfigErrors> {
        Ok(Self(T::default()))
    }
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }
    fn read(&self, _: &str, _: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Ok(SchemaAndValue::NULL)
    }
}
