//! The Java class of a pair names a part.

use connect_sdk::prelude::*;
use given::Settings;

#[transformation(java = "org.example.Upper$Value")] //~ ERROR write the Java class without its `$`
fn upper(part: Part, record: ConnectRecord) -> ConnectRecord {
    record
}
