//! The attribute stands on an impl without a trait.

use connect_sdk::prelude::*;

struct Upper;

#[transformation]
impl Upper {} //~ ERROR not on an impl without a trait
