//! `cargo xtask mutants`: puts known faults back, one at a time, and expects a named test to fail.
//!
//! A mutant is a file of `tests/mutants`: what it is about, which test must notice it, and a piece of a source file with the
//! fault in it. The files are changed in a copy of the last commit; the tests are built into the usual target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::error::{Context, Error, Result};
use crate::process::{Interrupts, WHOLE_WORKSPACE, cargo};
use crate::repo;

/// Where the mutants are.
const DIR: &str = "tests/mutants";
/// The part of a mutant that must be found once.
const BEFORE: &str = "--- before";
/// What stands in its place when the fault is back.
const AFTER: &str = "--- after";

/// A fault, and the test that must notice it.
#[derive(Debug, PartialEq, Eq)]
struct Mutant {
    name: String,
    /// Arguments of `cargo test`, without the test's name.
    target: Vec<String>,
    test: String,
    file: PathBuf,
    before: String,
    after: String,
}

impl Mutant {
    fn parse(name: &str, text: &str) -> Result<Self> {
        let wrong = |what: &str| Error::new(format!("mutant `{name}`: {what}"));
        let (head, body) = text.split_once(BEFORE).ok_or_else(|| wrong("there is no line `--- before`"))?;
        let (before, after) = body.split_once(AFTER).ok_or_else(|| wrong("there is no line `--- after`"))?;
        let field = |key: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            line.map(|value| value.trim().to_owned()).ok_or_else(|| wrong(&format!("there is no line `{key}: ..`")))
        };
        field("fault")?;
        field("rows")?;
        Ok(Self {
            name: name.to_owned(),
            target: field("target")?.split_whitespace().map(str::to_owned).collect(),
            test: field("test")?,
            file: field("file")?.into(),
            before: before.trim_matches('\n').to_owned(),
            after: after.trim_matches('\n').to_owned(),
        })
    }

    /// The source file with the fault.
    fn apply(&self, source: &str) -> Result<String> {
        match source.matches(&self.before).count() {
            1 => Ok(source.replacen(&self.before, &self.after, 1)),
            n => Err(Error::new(format!(
                "mutant `{}`: what stands below `{BEFORE}` is {n} times in `{}`; it must be there once",
                self.name,
                self.file.display()
            ))),
        }
    }
}

/// Runs the mutants whose names contain one of `names`, or all.
///
/// # Errors
/// A mutant does not fit the sources, or does not build; one that no test notices is an exit code and no error.
pub fn run(names: &[String]) -> Result<ExitCode> {
    let interrupts = Interrupts::catch()?;
    let mutants = load(&repo::root().join(DIR), names)?;
    for mutant in &mutants {
        mutant.apply(&read(&repo::root().join(&mutant.file))?)?;
    }
    let copy = Copy::new(&interrupts)?;
    let mut survivors = Vec::new();
    for mutant in &mutants {
        let path = copy.0.join(&mutant.file);
        let source = read(&path)?;
        write(&path, &mutant.apply(&source)?)?;
        let builds = interrupts.run(test(&copy.0, mutant).arg("--no-run").arg("--quiet"))?.success();
        if !builds {
            return Err(Error::new(format!("mutant `{}` does not build", mutant.name)));
        }
        let mut running = test(&copy.0, mutant);
        running.args(["--", "--exact", &mutant.test]).env("RUST_BACKTRACE", "0");
        let passes = interrupts.run(running.stdout(Stdio::null()).stderr(Stdio::null()))?.success();
        write(&path, &source)?;
        if passes {
            survivors.push(&mutant.name);
        }
        eprintln!("{}\t{}\t{}", if passes { "SURVIVES" } else { "found" }, mutant.name, mutant.test);
    }
    eprintln!("{} of {} mutants were found", mutants.len() - survivors.len(), mutants.len());
    // A test that fails without any fault proves nothing.
    for mutant in &mutants {
        let mut running = test(&copy.0, mutant);
        running.args(["--", "--exact", &mutant.test]);
        if !interrupts.run(running.stdout(Stdio::null()).stderr(Stdio::null()))?.success() {
            return Err(Error::new(format!("`{}` fails without the fault of `{}`", mutant.test, mutant.name)));
        }
    }
    Ok(if survivors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn load(dir: &Path, names: &[String]) -> Result<Vec<Mutant>> {
    let entries = fs::read_dir(dir).context(|| format!("cannot read `{}`", dir.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mutant"));
    paths.sort();
    let mut mutants = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if names.is_empty() || names.iter().any(|part| name.contains(part.as_str())) {
            mutants.push(Mutant::parse(&name, &read(&path)?)?);
        }
    }
    if mutants.is_empty() {
        return Err(Error::new(format!("no file of `{}` has a name with one of {names:?} in it", dir.display())));
    }
    Ok(mutants)
}

/// `cargo test` of a mutant's target in the copy.
fn test(dir: &Path, mutant: &Mutant) -> Command {
    let mut command = cargo();
    command.current_dir(dir).env("CARGO_TARGET_DIR", repo::target_dir());
    command.arg("test").arg(WHOLE_WORKSPACE[1]).args(&mutant.target);
    command
}

/// A copy of the last commit, removed in the end.
struct Copy(PathBuf);

impl Copy {
    fn new(interrupts: &Interrupts) -> Result<Self> {
        let dir = repo::target_dir().join("mutants");
        let copy = Self(dir);
        copy.remove();
        let added = interrupts.run(git().args(["worktree", "add", "--quiet", "--detach"]).arg(&copy.0).arg("HEAD"))?;
        if added.success() { Ok(copy) } else { Err(Error::new("the copy of the repository cannot be made")) }
    }

    fn remove(&self) {
        // What is not there needs no removal.
        drop(git().args(["worktree", "remove", "--force"]).arg(&self.0).stderr(Stdio::null()).status());
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.remove();
    }
}

fn git() -> Command {
    let mut command = Command::new("git");
    command.current_dir(repo::root());
    command
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).context(|| format!("cannot read `{}`", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "rows: 7\nfault: nothing is checked\ntarget: -p connect-sdk --lib\ntest: a::b\nfile: src/a.rs\n\
                        --- before\nif x {\n    y()\n}\n--- after\ny()\n";

    #[test]
    fn a_mutant_is_read_and_put_into_its_place() {
        let mutant = Mutant::parse("m", TEXT).unwrap();
        assert_eq!((mutant.test.as_str(), mutant.target.len()), ("a::b", 3));
        assert_eq!(mutant.apply("a();\nif x {\n    y()\n}\nb();\n").unwrap(), "a();\ny()\nb();\n");
    }

    #[test]
    fn a_mutant_that_does_not_fit_is_named() {
        let mutant = Mutant::parse("m", TEXT).unwrap();
        assert!(mutant.apply("a();").unwrap_err().to_string().contains("mutant `m`"));
        for line in ["rows: ", "fault: ", "test: ", "--- after"] {
            let text = TEXT.replace(line, "");
            assert!(Mutant::parse("m", &text).unwrap_err().to_string().contains("there is no line"), "{line}");
        }
    }

    #[test]
    fn the_mutants_fit_the_sources() {
        for mutant in load(&repo::root().join(DIR), &[]).unwrap() {
            let source = read(&repo::root().join(&mutant.file)).unwrap();
            assert_ne!(mutant.apply(&source).unwrap(), source, "{}", mutant.name);
        }
    }
}
