//! The attribute stands on a transformation.

use connect_sdk::prelude::*;
use given::Settings;

struct Limit {
    left: u64,
}

#[predicate]
impl Transformation for Limit { //~ ERROR `Transformation` is for a transformation: use `#[transformation]`
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self { left: 1 })
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(Some(record))
    }
}
