//! A key of the framework, found where the configuration is used.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Upside down.
    negate: bool,
}

struct Upper;

#[transformation]
impl Transformation for Upper {
    type Config = Settings; //~ ERROR the key `negate` is not free: every transformation has it from the framework

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(Some(record))
    }
}
