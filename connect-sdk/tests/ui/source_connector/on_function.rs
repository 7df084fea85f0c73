//! The attribute stands on a function.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
async fn read() {} //~ ERROR stands on `impl Source for ..`, not on `fn`
