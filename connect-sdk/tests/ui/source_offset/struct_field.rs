//! An offset has a struct.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At {
    inner: Inner, //~ ERROR `Inner` cannot be a field of a source offset
}

struct Inner {
    i: i64,
}
