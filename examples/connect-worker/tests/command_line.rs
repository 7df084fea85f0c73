//! Goal: the ready worker explains itself. Method: its binary is run. That this package has an integration test also
//! makes `cargo test` build the binary, which the tests of the whole workspace then run as a process.
#![forbid(unsafe_code)]

use std::process::Command;

#[test]
fn help_is_no_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_connect")).arg("--help").output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
