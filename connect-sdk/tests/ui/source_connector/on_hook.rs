//! The attribute stands on a hook.

use connect_sdk::prelude::*;
use given::{At, Part, Settings};

struct Hook;

#[source_connector(name = "hook", exactly_once = supported(untested = "a case"))]
impl Clone for Hook { //~ ERROR not on an impl of `Clone`
    fn clone(&self) -> Self {
        Self
    }
}
