//! Two variants differ in their case alone.

use connect_sdk::prelude::*;

#[derive(ConfigEnum)]
#[config(case_insensitive)]
enum Mode {
    Append,
    #[config(rename = "APPEND")]
    Add, //~ ERROR `Append` and `Add` are both written `APPEND`
}
