//! The attribute of an offset.

use connect_sdk::prelude::*;

#[derive(SourcePartition)]
struct Part {
    #[offset(rename = "filename")] //~ ERROR cannot find attribute `offset` in this scope
    name: String,
}
