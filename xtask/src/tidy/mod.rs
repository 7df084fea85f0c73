//! `cargo xtask tidy`: formatting, lints, documentation, licences, and the rules of the house that no compiler knows.

mod licences;
mod rules;
mod source;

use std::process::{Command, ExitCode};

use crate::error::Result;
use crate::process::{Interrupts, WHOLE_WORKSPACE, cargo};

/// Something that a check has found, at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    /// The path from the repository's root, with the line where there is one.
    place: String,
    text: String,
    /// A note is shown and fails nothing.
    is_note: bool,
}

/// Runs every check to its end, so that one run shows all that is to do. `quick` leaves out those that compile.
///
/// # Errors
/// A tool is missing, a file cannot be read, or the task was interrupted; what a check finds is an exit code and no error.
pub fn run(quick: bool) -> Result<ExitCode> {
    let interrupts = Interrupts::catch()?;
    let mut failed = Vec::new();
    let mut check = |name: &str, passed: Result<bool>| -> Result<()> {
        if !passed? {
            failed.push(name.to_owned());
        }
        Ok(())
    };
    check("house rules", rules::check().map(|findings| report(&findings)))?;
    check("licences", licences::check(&interrupts))?;
    for (name, mut command) in commands(quick) {
        eprintln!("tidy: {name}");
        check(name, interrupts.run(&mut command).map(|status| status.success()))?;
    }
    if failed.is_empty() {
        println!("tidy: ok");
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: failed: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

fn commands(quick: bool) -> Vec<(&'static str, Command)> {
    let mut format = cargo();
    format.args(["fmt", "--all", "--check"]);
    if quick {
        return vec![("format", format)];
    }
    // What an author's crate builds: no worker, no C code, none of the test kit's dependencies.
    let mut sdk = cargo();
    sdk.args(["check", "--quiet", "--package", "connect-sdk"]);
    let mut lints = cargo();
    lints.arg("clippy").args(WHOLE_WORKSPACE).args(["--all-targets", "--", "-D", "warnings"]);
    let mut docs = cargo();
    docs.arg("doc").args(WHOLE_WORKSPACE).arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings");
    vec![("format", format), ("connect-sdk alone", sdk), ("lints", lints), ("documentation", docs)]
}

/// Prints findings, notes last; true if there are only notes.
fn report(findings: &[Finding]) -> bool {
    let (notes, errors): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding.is_note);
    for finding in &errors {
        eprintln!("error: {}: {}", finding.place, finding.text);
    }
    for finding in &notes {
        eprintln!("note: {}: {}", finding.place, finding.text);
    }
    errors.is_empty()
}
