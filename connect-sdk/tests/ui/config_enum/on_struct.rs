//! A set of values is a struct.

use connect_sdk::prelude::*;

#[derive(ConfigEnum)]
struct Mode { //~ ERROR `ConfigEnum` goes on an enum
    append: bool,
}
