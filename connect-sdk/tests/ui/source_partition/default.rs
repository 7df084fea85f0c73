//! A field of a partition has a default.

use connect_sdk::prelude::*;

#[derive(SourcePartition)]
struct Part {
    name: String,
    #[partition(default = 0)] //~ ERROR a field of a partition has no default
    shard: i32,
}
