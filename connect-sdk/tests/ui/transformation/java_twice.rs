//! The Java class is given twice.

use connect_sdk::prelude::*;
use given::Settings;

struct Limit {
    left: u64,
}

#[transformation(java = "org.example.A", java = "org.example.B")] //~ ERROR `java` is given twice
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
