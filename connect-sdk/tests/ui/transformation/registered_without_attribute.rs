//! The type has no attribute.

use connect_sdk::prelude::*;
use given::Settings;

struct Upper;

impl Transformation for Upper {
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(Some(record))
    }
}

fn plugins() -> Plugins {
    Plugins::new().transformation::<Upper>() //~ ERROR this type has no `#[transformation]`
}
