//! The attribute stands on a method.

use connect_sdk::prelude::*;

struct Upper;

impl Upper {
    #[transformation]
    fn upper(&mut self, record: ConnectRecord) -> ConnectRecord { //~ ERROR it has no `self`: for a type with fields
        record
    }
}
