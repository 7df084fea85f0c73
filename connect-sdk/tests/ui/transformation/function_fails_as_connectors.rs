//! The error is that of sources and sinks.

use connect_sdk::prelude::*;

#[transformation]
fn upper(record: ConnectRecord) -> Result<Option<ConnectRecord>> { //~ ERROR write `-> Result<Option<ConnectRecord>, DataError>`
    Ok(Some(record))
}
