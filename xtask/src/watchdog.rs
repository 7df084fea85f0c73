//! Child processes that never outlive their parent, even when the parent is killed by SIGKILL.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::error::{Context, Error, Result};

/// A shell that waits for the end of the process that started it, which closes the shell's standard input, and then
/// kills one other process. Dismissed when dropped in good order.
#[derive(Debug)]
pub struct Watchdog {
    shell: Child,
    input: Option<ChildStdin>,
}

/// The number could belong to another process by then, so the command line is compared first.
const SCRIPT: &str = r#"
read -r order
[ "$order" = dismissed ] && exit 0
line=$(tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null || ps -ww -o args= -p "$1")
case "$line" in *"$2"*) kill -9 "$1" ;; esac
[ -z "$3" ] || rm -rf -- "$3"
"#;

impl Watchdog {
    /// Watches over process `pid`, whose command line contains `command_line`; `remove` is a folder that goes with it.
    ///
    /// # Errors
    /// There is no `sh`.
    pub fn start(pid: u32, command_line: &str, remove: Option<&Path>) -> Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "watchdog", &pid.to_string(), command_line]).arg(remove.unwrap_or(Path::new("")));
        // An own process group, so that Ctrl-C does not end the watchdog before its work is done.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut shell = command.spawn().context(|| "`sh` did not run".to_owned())?;
        let input = shell.stdin.take().ok_or_else(|| Error::new("the watchdog has no standard input"))?;
        Ok(Self { shell, input: Some(input) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut input) = self.input.take() {
            // A watchdog that is gone already needs no order.
            input.write_all(b"dismissed\n").ok();
        }
        self.shell.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("600.25").stdin(Stdio::null()).spawn().unwrap()
    }

    /// Closing the pipe without an order is what the end of the parent does.
    fn abandon(mut watchdog: Watchdog) {
        drop(watchdog.input.take());
        watchdog.shell.wait().unwrap();
    }

    #[test]
    fn the_child_of_a_parent_that_is_gone_is_killed_and_its_folder_removed() {
        let dir = std::env::temp_dir().join(format!("watchdog-{:x}", crate::repo::random()));
        std::fs::create_dir_all(dir.join("inner")).unwrap();
        let mut child = sleeper();
        abandon(Watchdog::start(child.id(), "sleep 600.25", Some(&dir)).unwrap());
        assert!(!child.wait().unwrap().success());
        assert!(!dir.exists());
    }

    #[test]
    fn a_dismissed_watchdog_and_one_for_another_command_line_kill_nobody() {
        let mut child = sleeper();
        drop(Watchdog::start(child.id(), "sleep 600.25", None).unwrap());
        abandon(Watchdog::start(child.id(), "sleep 1000.25", None).unwrap());
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
