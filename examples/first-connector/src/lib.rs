//! The tutorial's connectors: a source that reads the lines of a file, and a sink that writes lines to one.
//!
//! `docs/tutorial.md` builds this crate step by step; the connectors for production are in `file-connector`.
#![forbid(unsafe_code)]

mod file_lines;
mod lines;

pub use file_lines::{FileConfig, FileLines, InFile, Pos};
pub use lines::{Lines, LinesConfig};
