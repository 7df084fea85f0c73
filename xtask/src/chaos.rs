//! `cargo xtask chaos`: builds the worker of the tests, with its crash points, and runs chaos against it.

use std::process::{Command, ExitCode};

use crate::error::{Error, Result};
use crate::process::{Interrupts, WHOLE_WORKSPACE, cargo};
use crate::repo;

/// What makes the build one for release; the other arguments are for the chaos itself.
const RELEASE: &str = "--release";

/// Runs the chaos with these arguments.
///
/// # Errors
/// It does not build, or the task was interrupted; a failed cycle is an exit code and no error.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let interrupts = Interrupts::catch()?;
    let (release, arguments): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|one| *one == RELEASE);
    let mut build = cargo();
    build.arg("build").args(WHOLE_WORKSPACE).arg("--bins").args(&release);
    if !interrupts.run(&mut build)?.success() {
        return Err(Error::new("worker and chaos do not build"));
    }
    let profile = if release.is_empty() { "debug" } else { "release" };
    let mut chaos = Command::new(repo::target_dir().join(profile).join("chaos"));
    let status = interrupts.run(chaos.args(arguments))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
