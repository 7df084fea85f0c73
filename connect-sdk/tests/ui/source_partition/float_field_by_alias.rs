//! A partition has a fraction under another name.

use connect_sdk::prelude::*;

#[derive(SourcePartition)]
struct Part {
    x: Ratio, //~ ERROR not a type that can be part of a partition's identity
}

type Ratio = f64;
