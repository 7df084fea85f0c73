//! A partition has a path.

use connect_sdk::prelude::*;

#[derive(SourcePartition)]
struct Part {
    file: std::path::PathBuf, //~ ERROR a path is stored as text: use `String`
}
