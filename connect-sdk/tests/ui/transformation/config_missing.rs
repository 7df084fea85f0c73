//! The configuration is not named.

use connect_sdk::prelude::*;

struct Upper;

#[transformation]
impl Transformation for Upper { //~ ERROR missing: `Config`
    fn new(_: ()) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(Some(record))
    }
}
