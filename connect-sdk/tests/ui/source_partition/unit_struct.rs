//! A partition has no fields.

use connect_sdk::prelude::*;

#[derive(SourcePartition)]
struct Part; //~ ERROR a source partition needs at least one field
