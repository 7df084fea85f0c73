//! The predicate answers nothing.

use connect_sdk::prelude::*;

#[predicate]
fn small(record: &ConnectRecord) {} //~ ERROR it answers nothing, but is asked for whether the record is meant
