//! A field is of another kind than what is stored.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
#[offset(lock = "at.lock")]
struct At {
    i: String, //~ ERROR `At.i` is not of the kind that `at.lock` says
}
