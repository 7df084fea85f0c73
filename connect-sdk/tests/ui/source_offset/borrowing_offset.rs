//! An offset borrows.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At<'a> { //~ ERROR a source offset cannot be generic
    name: &'a str, //~ ERROR it must own its fields: use `String`
}
