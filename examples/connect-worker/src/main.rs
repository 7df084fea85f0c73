//! The ready worker.
#![forbid(unsafe_code)]
fn main() {}
