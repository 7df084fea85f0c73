//! An offset has a type parameter.

use connect_sdk::prelude::*;

#[derive(SourceOffset)]
struct At<T> { //~ ERROR a source offset cannot be generic
    i: T,
}
