//! Methods of the Java interface.

use connect_sdk::prelude::*;
use given::Settings;

struct Limit {
    left: u64,
}

#[transformation]
impl Transformation for Limit {
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self { left: 1 })
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(Some(record))
    }
    fn configure(&mut self, _: &Settings) {} //~ ERROR it is configured when it is made
    fn close(&mut self) {} //~ ERROR it is dropped. Put clean-up into Drop
    fn config() -> u8 { 0 } //~ ERROR come from `type Config`
    fn version(&self) -> String { String::new() } //~ ERROR argument of the attribute: `version = "1.2.3"`
}
