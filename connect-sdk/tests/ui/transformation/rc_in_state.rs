//! The state cannot change threads.

use connect_sdk::prelude::*;
use given::Settings;

struct Upper {
    seen: std::rc::Rc<u64>,
}

#[transformation]
impl Transformation for Upper { //~ ERROR cannot be sent between threads safely
    type Config = Settings;

    fn new(_: Settings) -> Result<Self, ConfigErrors> {
        Ok(Self { seen: std::rc::Rc::new(0) })
    }
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Ok(Some(record))
    }
}
