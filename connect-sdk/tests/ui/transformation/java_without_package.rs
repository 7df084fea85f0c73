//! The Java class has no package.

use connect_sdk::prelude::*;
use given::Settings;

struct Limit {
    left: u64,
}

#[transformation(java = "Limit")] //~ ERROR it is a Java class with its package
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
