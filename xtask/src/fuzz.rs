//! `cargo xtask fuzz`: builds the fuzz targets with a nightly compiler and runs each for a while.

use std::env;
use std::fs;
use std::process::{Command, ExitCode};

use crate::error::{Context, Error, Result};
use crate::process::Interrupts;
use crate::repo;

/// What cargo-fuzz tells the compiler: counters at every edge, comparisons traced, and the address sanitizer, without
/// which libFuzzer sees no single allocation and loses the input that overflows the stack.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Zsanitizer=address -Ccodegen-units=1 --cfg fuzzing";
/// The longest input, in bytes.
const INPUT_BYTES_MAX: u32 = 4096;
/// One allocation larger than this is a finding, in MiB.
const ALLOCATION_MIB_MAX: u32 = 256;
/// How quickly inputs grow: libFuzzer's default, 100, hardly leaves the first bytes in a short run.
const LENGTH_CONTROL: u32 = 20;
/// All memory, in MiB, that of the sanitizer included.
const MEMORY_MIB_MAX: u32 = 2048;
/// One input may take so long, in seconds.
const INPUT_SECONDS_MAX: u32 = 10;

/// Runs these targets, all if none is named, each for `seconds`. Without a nightly compiler nothing is run, and that is
/// said.
///
/// # Errors
/// The targets do not build, or some have found something: their inputs are kept in `fuzz/artifacts`.
pub fn run(targets: &[String], seconds: u32) -> Result<ExitCode> {
    let all = all_targets()?;
    if let Some(unknown) = targets.iter().find(|name| !all.contains(name)) {
        return Err(Error::new(format!("there is no fuzz target `{unknown}`; there are {}", all.join(", "))));
    }
    if !has_nightly() {
        eprintln!("no nightly compiler is installed (`rustup toolchain install nightly`): fuzz targets were skipped");
        return Ok(ExitCode::SUCCESS);
    }
    let interrupts = Interrupts::catch()?;
    let folder = repo::root().join("fuzz");
    let triple = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let target_dir = repo::target_dir().join("fuzz");
    let mut build = nightly_cargo();
    build
        .args(["build", "--release", "--locked", "--bins", "--target", &triple, "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target_dir)
        .env("RUSTFLAGS", FLAGS);
    if !interrupts.run(&mut build)?.success() {
        return Err(Error::new("the fuzz targets do not build"));
    }
    let mut found = Vec::new();
    for target in all.iter().filter(|name| targets.is_empty() || targets.contains(name)) {
        eprintln!("fuzz target `{target}`, {seconds} s");
        let (corpus, artifacts) = (target_dir.join("corpus").join(target), folder.join("artifacts").join(target));
        for dir in [&corpus, &artifacts] {
            fs::create_dir_all(dir).context(|| format!("`{}` cannot be created", dir.display()))?;
        }
        let mut fuzz = Command::new(target_dir.join(&triple).join("release").join(target));
        fuzz.arg(corpus)
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-max_len={INPUT_BYTES_MAX}"))
            .arg(format!("-len_control={LENGTH_CONTROL}"))
            .arg(format!("-malloc_limit_mb={ALLOCATION_MIB_MAX}"))
            .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
            .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
            .args(["-print_final_stats=1", "-verbosity=0", "-print_funcs=0"]);
        let dictionary = folder.join("dictionaries").join(target);
        if dictionary.is_file() {
            fuzz.arg(format!("-dict={}", dictionary.display()));
        }
        if !interrupts.run(&mut fuzz)?.success() {
            found.push(target.as_str());
        }
    }
    if found.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let text = format!("something was found by {}; the inputs are in `fuzz/artifacts`", found.join(", "));
    Err(Error::new(text))
}

/// The names of the files in `fuzz/fuzz_targets`, in order.
fn all_targets() -> Result<Vec<String>> {
    let dir = repo::root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&dir).context(|| format!("`{}` cannot be read", dir.display()))?;
    let stem = |entry: fs::DirEntry| Some(entry.path().file_stem()?.to_string_lossy().into_owned());
    let mut names: Vec<String> = entries.flatten().filter_map(stem).collect();
    names.sort();
    Ok(names)
}

fn has_nightly() -> bool {
    nightly_cargo().arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The nightly compiler's cargo, whichever cargo runs this task; `rustup run` installs nothing.
fn nightly_cargo() -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
    command
}
