//! A partition gets another field.

use connect_sdk::prelude::*;

#[derive(SourcePartition)]
#[partition(lock = "part.lock")]
struct Part {
    name: String,
    shard: Option<i32>, //~ ERROR every partition would start from scratch
}
