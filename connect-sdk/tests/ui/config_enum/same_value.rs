//! Two variants are one word.

use connect_sdk::prelude::*;

#[derive(ConfigEnum)]
enum Mode {
    Append,
    #[config(rename = "append")]
    Add, //~ ERROR `Append` and `Add` are both written `append`
}
