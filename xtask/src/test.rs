//! `cargo xtask test`: every test of the workspace, with a real broker.

use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::kafka::{self, Jars, Java, Kafka, Options};
use crate::process::{Interrupts, WHOLE_WORKSPACE, cargo};
use crate::repo;

/// Tells the test library where the built `connect` binary is.
const WORKER_VAR: &str = "CONNECT_TEST_WORKER";

/// Builds everything, starts the broker, runs the tests and stops the broker, also when a test fails or the task is
/// interrupted. `arguments` go to `cargo test`: a name to filter by, or what cargo takes.
///
/// # Errors
/// Something is missing or does not build; a failing test is an exit code and no error.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let interrupts = Interrupts::catch()?;
    let given = kafka::given_bootstrap();
    if given.is_none() {
        // What is missing is said before the minutes of building.
        Java::find()?;
        Jars::find()?;
    }
    // Built before the broker is started, which would have to wait. This builds the worker's binary too, because its
    // package has an integration test.
    if !interrupts.run(cargo().arg("test").args(WHOLE_WORKSPACE).arg("--no-run"))?.success() {
        return Err(Error::new("the workspace does not build"));
    }
    let own = if given.is_none() { Some(Kafka::start(Options::new())?) } else { None };
    let bootstrap = own.as_ref().map(|kafka| kafka.bootstrap().to_owned()).or(given).unwrap_or_default();
    eprintln!("broker for the tests: {bootstrap}");
    let mut command = cargo();
    // Cargo takes no package beside the whole workspace.
    let is_package = |argument: &String| argument == "-p" || argument.starts_with("--package");
    let selection = if arguments.iter().any(is_package) { &WHOLE_WORKSPACE[1..] } else { &WHOLE_WORKSPACE[..] };
    command.arg("test").args(selection).arg("--no-fail-fast").args(arguments);
    command.env(kafka::BOOTSTRAP_VAR, bootstrap);
    command.env(WORKER_VAR, repo::target_dir().join("debug/connect"));
    let status = interrupts.run(&mut command);
    drop(own);
    Ok(if status?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
