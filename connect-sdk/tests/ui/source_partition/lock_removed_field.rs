//! A partition loses a field.

use connect_sdk::prelude::*;

#[derive(SourcePartition)]
#[partition(lock = "part.lock")]
struct Pair { //~ ERROR has a field of `Pair` that the struct has not
    left: String,
}
