//! An offset is an enum.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
enum At { //~ ERROR it must be a struct, not an enum
    Start,
    Line { i: i64 },
}
