//! A word carries something.

use connect_sdk::prelude::*;

#[derive(ConfigEnum)]
enum Mode {
    Append,
    Rotate(u64), //~ ERROR `Rotate` is a word in a configuration and cannot carry anything
}
