//! The repository's own tasks. `cargo xtask --help` lists them; the integration tests use [`kafka`] as a library.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the tasks talk to the person at the terminal")]

pub mod bench;
pub mod chaos;
pub mod docs;
pub mod error;
pub mod fuzz;
pub mod kafka;
pub mod mutants;
pub mod process;
pub mod repo;
pub mod test;
pub mod tidy;
pub mod watchdog;
