//! The attribute stands on a trait.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

#[source_connector(name = "nums", exactly_once = supported(untested = "a case"))]
trait Numbers {} //~ ERROR stands on `impl Source for ..`, not on `trait`
