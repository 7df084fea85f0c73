//! An offset has no fields.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At; //~ ERROR needs at least one field
