//! A set of values is empty.

use connect_sdk::prelude::*;

#[derive(ConfigEnum)]
enum Mode {} //~ ERROR needs at least one variant
