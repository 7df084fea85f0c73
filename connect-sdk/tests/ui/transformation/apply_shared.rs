//! The record is changed through a shared reference.

use connect_sdk::prelude::*;
use given::Settings;

struct Upper;

#[transformation]
impl Transformation for Upper {
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn apply(&self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> { //~ ERROR method `apply` has an incompatible type for trait
        Ok(Some(record))
    }
}
