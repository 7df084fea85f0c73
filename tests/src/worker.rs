//! A worker as a process of its own: started, watched through its log, killed at any moment.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use xtask::repo;
use xtask::watchdog::Watchdog;

use crate::wait::eventually;

/// Names the `connect` binary to run; `cargo xtask test` sets it to the one it has built.
const BINARY_VAR: &str = "CONNECT_TEST_WORKER";
const LOG_TAIL_LINES: usize = 40;

/// A running worker. Dropping it kills it; the end of its log is printed when the test is failing.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    /// Kept for its end: a worker does not outlive the test process, however that ends.
    _watchdog: Watchdog,
    log: PathBuf,
    status: Option<ExitStatus>,
}

impl Worker {
    /// Starts the `connect` binary with these arguments in this folder; what it prints goes to `log`.
    pub fn spawn(dir: &Path, log: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(dir);
        Self::run(command, log)
    }

    /// Starts any command as a worker: Java's, or `connect` with other surroundings. Its standard input is empty unless
    /// `command` says otherwise before.
    pub fn run(mut command: Command, log: &Path) -> Self {
        let output = File::create(log).unwrap_or_else(|error| panic!("`{}` cannot be created: {error}", log.display()));
        let errors = output.try_clone().expect("an open file can be duplicated");
        // An own process group: Ctrl-C is for the test, not for the worker under test.
        command.stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().unwrap_or_else(|error| panic!("`{program}` does not run: {error}"));
        let watchdog = Watchdog::start(child.id(), &program, None).expect("a watchdog can be started");
        Self { child, _watchdog: watchdog, log: log.to_path_buf(), status: None }
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the worker has printed so far, standard output and standard error together.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Waits until the log contains `text`, and returns the log.
    ///
    /// # Panics
    /// `timeout` passed, or the worker ended, without it.
    pub fn wait_for_log(&mut self, text: &str, timeout: Duration) -> String {
        eventually(&format!("the worker's log contains `{text}`"), timeout, || {
            // Asked before the log is read, so that the last line of a worker that ends is not missed.
            let ended = self.ended();
            let log = self.log();
            if log.contains(text) {
                return Some(log);
            }
            assert!(ended.is_none(), "the worker ended, and its log does not contain `{text}`: {ended:?}");
            None
        })
    }

    /// How the worker ended; none while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().expect("an own child can be waited for");
        }
        self.status
    }

    /// Ends the worker by SIGKILL, as a crash would, and waits until it is gone.
    pub fn kill9(&mut self) {
        if self.ended().is_none() {
            self.child.kill().expect("a running child can be killed");
            self.status = Some(self.child.wait().expect("an own child can be waited for"));
        }
    }

    /// Sends SIGTERM.
    pub fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub fn interrupt(&mut self) {
        self.signal(Signal::INT);
    }

    /// Freezes the worker: it keeps its connections and does nothing.
    pub fn freeze(&mut self) {
        self.signal(Signal::STOP);
    }

    /// Lets a frozen worker go on.
    pub fn thaw(&mut self) {
        self.signal(Signal::CONT);
    }

    fn signal(&mut self, signal: Signal) {
        let ended = self.ended();
        assert!(ended.is_none(), "the worker has ended already: {ended:?}");
        kill_process(Pid::from_child(&self.child), signal).expect("a running child can be signalled");
    }

    /// Waits for the worker's end.
    ///
    /// # Panics
    /// It has not ended within `timeout`.
    pub fn wait_for_exit(&mut self, timeout: Duration) -> ExitStatus {
        eventually("the worker ends", timeout, || self.ended())
    }

    /// Waits for the worker's end and returns its exit code.
    ///
    /// # Panics
    /// It has not ended within `timeout`, or a signal ended it.
    pub fn wait_for_code(&mut self, timeout: Duration) -> i32 {
        let status = self.wait_for_exit(timeout);
        status.code().unwrap_or_else(|| panic!("the worker was ended by signal {:?}", status.signal()))
    }

    /// The most memory that the worker has ever held, in KiB (Linux only).
    pub fn peak_memory_kib(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.ended().is_none() && self.child.kill().is_ok() {
            self.child.wait().ok();
        }
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let tail = &lines[lines.len().saturating_sub(LOG_TAIL_LINES)..];
            eprintln!("--- end of the worker's log `{}`\n{}\n---", self.log.display(), tail.join("\n"));
        }
    }
}

/// The `connect` binary, up to date: the one that `CONNECT_TEST_WORKER` names, else built now by cargo, which knows
/// whether there is anything to do.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(given) = std::env::var_os(BINARY_VAR) {
            return PathBuf::from(given);
        }
        let target = repo::target_dir();
        let release = std::env::current_exe().is_ok_and(|exe| exe.starts_with(target.join("release")));
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(["build", "--quiet", "--package", "connect-worker", "--bin", "connect", "--target-dir"])
            .arg(&target);
        if release {
            command.arg("--release");
        }
        let status = command.current_dir(repo::root()).stdin(Stdio::null()).status().expect("cargo runs");
        assert!(status.success(), "the worker cannot be built: {status}");
        target.join(if release { "release" } else { "debug" }).join("connect")
    })
}

/// The worker with the connectors of the tests: cargo puts it beside every program of this package, and builds it
/// before an integration test or with `--bins`.
pub(crate) fn test_worker() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let exe = std::env::current_exe().expect("a program knows where it is");
        let found =
            exe.ancestors().skip(1).take(2).map(|dir| dir.join("connect-test-worker")).find(|path| path.is_file());
        found.unwrap_or_else(|| panic!("no `connect-test-worker` beside `{}`: build the package's bins", exe.display()))
    })
}
