//! An offset has no names.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At(i64); //~ ERROR its fields need names
