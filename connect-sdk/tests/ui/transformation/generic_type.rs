//! The type is generic.

use connect_sdk::prelude::*;
use given::Settings;

struct Upper<T> {
    seen: T,
}

#[transformation]
impl<T: Default + Send + 'static> Transformation for Upper<T> { //~ ERROR a transformation cannot be generic
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self { seen: T::default() })
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(Some(record))
    }
}
