//! The attribute stands on the struct.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
struct Nums; //~ ERROR stands on `impl Source for ..`, not on `struct`
