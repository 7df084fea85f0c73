//! `NumberConverter`: what stands in the kit's topics, as the fixture's values.

use super::kit::Kit;
use crate::{
    data::{DataError, SchemaAndValue},
    erased::DynConverter,
    source::PayloadRef,
};
use bytes::Bytes;

/// Bytes are a record's number; the fixture makes the value.
pub(in crate::testkit) struct NumberConverter {
    make: Box<dyn Fn(u64) -> SchemaAndValue + Send + Sync>,
}

impl NumberConverter {
    pub(in crate::testkit) fn of(kit: &Kit) -> Self {
        Self { make: Box::new(kit.maker()) }
    }
}

impl DynConverter for NumberConverter {
    fn write(&self, _: &str, _: PayloadRef<'_>, _: &mut Vec<u8>) -> Result<bool, DataError> {
        Ok(false)
    }

    fn read(&self, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        let number = bytes.and_then(|b| std::str::from_utf8(b).ok()?.parse().ok());
        Ok(number.map_or(SchemaAndValue::NULL, |n| (self.make)(n)))
    }
}
