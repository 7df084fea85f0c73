//! A partition has a fraction.

use connect_sdk::prelude::*;

#[derive(SourcePartition)]
struct Part {
    x: f64, //~ ERROR so that it cannot be part of a partition's identity
}
