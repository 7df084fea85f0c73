//! The repository's own tasks. `cargo xtask help` lists them; the integration tests use [`kafka`] as a library.
#![forbid(unsafe_code)]

pub mod error;
pub mod kafka;
pub mod repo;
pub mod watchdog;
