//! A rule does not exist.

use connect_sdk::prelude::*;

#[derive(ConfigEnum)]
#[config(rename_all = "kebabcase")] //~ ERROR did you mean `kebab-case`?
enum Mode {
    Append,
}
