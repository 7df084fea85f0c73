//! `cargo xtask docs`: writes the pages of the reference. The program that does it lives in the tests package, which
//! knows all plugins.

use std::process::{Command, ExitCode};

use crate::error::{Error, Result};
use crate::process::{Interrupts, cargo};
use crate::repo;

/// Writes the pages.
///
/// # Errors
/// The program does not build or fails, or the task was interrupted.
pub fn run() -> Result<ExitCode> {
    let interrupts = Interrupts::catch()?;
    let mut build = cargo();
    // The flags of the tests, so that nothing is built twice.
    build.args(["build", "--workspace", "--all-features", "--bin", "reference"]);
    let mut write = Command::new(repo::target_dir().join("debug").join("reference"));
    if !interrupts.run(&mut build)?.success() || !interrupts.run(&mut write)?.success() {
        return Err(Error::new("the reference could not be written"));
    }
    Ok(ExitCode::SUCCESS)
}
