//! Running cargo as a child that is ended together with everything that it started when the task is interrupted.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Context, Error, Result};
use crate::repo;

/// Turns Ctrl-C, SIGTERM and SIGHUP into an orderly end: the running child is ended, and the task goes on to clean up.
#[derive(Debug, Clone)]
pub struct Interrupts {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    child: Option<Pid>,
    interrupted: bool,
}

impl Interrupts {
    /// From now on signals end children, not this process.
    ///
    /// # Errors
    /// The signals cannot be caught.
    pub fn catch() -> Result<Self> {
        let state = Arc::new(Mutex::new(State::default()));
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context(|| "signals cannot be caught".to_owned())?;
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for _ in signals.forever() {
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                state.interrupted = true;
                if let Some(child) = state.child {
                    // A child that has just ended needs no signal.
                    kill_process_group(child, Signal::TERM).ok();
                }
            }
        });
        Ok(Self { state })
    }

    /// Runs `command` in a process group of its own and waits for it.
    ///
    /// # Errors
    /// It cannot be started, or the task was interrupted.
    pub fn run(&self, command: &mut Command) -> Result<ExitStatus> {
        let name = command.get_program().to_string_lossy().into_owned();
        let status = self.wait(command).context(|| format!("`{name}` did not run"))?;
        if self.state.lock().unwrap_or_else(PoisonError::into_inner).interrupted {
            return Err(Error::new("interrupted"));
        }
        Ok(status)
    }

    fn wait(&self, command: &mut Command) -> io::Result<ExitStatus> {
        let mut child = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.interrupted {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let child = command.process_group(0).spawn()?;
            state.child = Some(Pid::from_child(&child));
            child
        };
        let status = child.wait();
        self.state.lock().unwrap_or_else(PoisonError::into_inner).child = None;
        status
    }
}

/// `cargo`, the one that runs this task, in the root of the repository.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repo::root());
    command
}

/// What `--package` and feature arguments every task uses: with one set of features nothing is built twice, and
/// librdkafka takes minutes.
pub const WHOLE_WORKSPACE: [&str; 2] = ["--workspace", "--all-features"];
