//! The attribute stands on the type.

use connect_sdk::prelude::*;

#[transformation]
struct Upper; //~ ERROR stands on `impl Transformation for ..`
