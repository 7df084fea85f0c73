//! `cargo xtask bench`: builds worker and benchmark for release and runs the benchmark. It lives in the tests package,
//! because it needs a Kafka client.

use std::process::{Command, ExitCode};

use crate::error::{Error, Result};
use crate::process::{Interrupts, cargo};
use crate::repo;

/// Runs the benchmark with these arguments.
///
/// # Errors
/// It does not build, or the task was interrupted; a missed ratio is an exit code and no error.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let interrupts = Interrupts::catch()?;
    let mut build = cargo();
    build.args(["build", "--release", "--package", "connect-worker", "--package", "connect-tests", "--bins"]);
    if !interrupts.run(&mut build)?.success() {
        return Err(Error::new("worker and benchmark do not build"));
    }
    let release = repo::target_dir().join("release");
    let mut bench = Command::new(release.join("bench"));
    bench.args(arguments).env("CONNECT_TEST_WORKER", release.join("connect"));
    let status = interrupts.run(&mut bench)?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
