//! Goal: the replay kit passes honest sources and catches every cheat that it claims to catch. Method: small sources over
//! a file of lines, honest ones of each kind, and twins of them that are broken in one place.
#![cfg(feature = "testkit")]

mod cheats;
mod honest;
mod tester;
mod transactions;

use connect_sdk::{
    prelude::*,
    source::SourceConnector,
    testkit::{Fixture, check_source},
};
use std::path::{Path, PathBuf};

#[derive(ConnectorConfig)]
pub(crate) struct FileConfig {
    /// The file to read.
    path: PathBuf,
    /// The topic its lines go to.
    #[config(default = "lines")]
    topic: String,
}

#[derive(SourcePartition)]
pub(crate) struct Part {
    number: i32,
}

#[derive(SourceOffset)]
pub(crate) struct Line {
    line: i64,
}

/// The whole lines of a file; what cannot be read is empty.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|l| l.strip_suffix('\n')).map(str::to_owned).collect()
}

pub(crate) fn next(at: &Cursor<Part, Line>) -> i64 {
    at.offset().map_or(0, |o| o.line)
}

/// The line with this number, if there is one.
pub(crate) fn at(lines: &[String], number: i64) -> Option<&str> {
    lines.get(usize::try_from(number).ok()?).map(String::as_str)
}

pub(crate) fn some_lines() -> Fixture {
    let text: String = (0..23).map(|i| format!("line {i}\n")).collect();
    Fixture::new().file("path", "in.txt", text)
}

/// The kit must find what is wrong with `S`, and say it like this.
#[track_caller]
pub(crate) fn must_catch<S: SourceConnector>(fixture: impl Fn() -> Fixture, texts: &[&str]) {
    match check_source::<S>(fixture) {
        Ok(report) => panic!("`{}` is broken, and the kit did not notice: {report:?}", S::META.name),
        Err(error) => {
            for text in texts {
                assert!(error.contains(text), "found something else than `{text}`: {error}");
            }
        }
    }
}
