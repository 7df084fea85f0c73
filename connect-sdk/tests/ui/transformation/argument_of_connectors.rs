//! An argument of a source.

use connect_sdk::prelude::*;
use given::Settings;

struct Limit {
    left: u64,
}

#[transformation(exactly_once = supported)] //~ ERROR `#[transformation]` has no `exactly_once`
//]
impl Transformation for Limit {
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self { left: 1 })
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(Some(record))
    }
}
