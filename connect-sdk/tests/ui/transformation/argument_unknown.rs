//! An argument is misspelt.

use connect_sdk::prelude::*;
use given::Settings;

struct Limit {
    left: u64,
}

#[transformation(nam = "limit")] //~ ERROR `#[transformation]` has no `nam`; expected one of: `name`, `java`, `version`, `crate`   help: did you mean `name`?
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
