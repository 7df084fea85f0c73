//! The method waits.

use connect_sdk::prelude::*;
use given::Settings;

struct LookUp;

#[transformation]
impl Transformation for LookUp {
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    async fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> { //~ ERROR `apply` does not wait
        given::wait().await;
        Ok(Some(record))
    }
}
