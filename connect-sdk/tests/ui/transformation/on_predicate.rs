//! The attribute stands on a predicate.

use connect_sdk::prelude::*;
use given::Settings;

struct Small;

#[transformation]
impl Predicate for Small { //~ ERROR `Predicate` is for a predicate: use `#[predicate]`
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError> {
        Ok(true)
    }
}
