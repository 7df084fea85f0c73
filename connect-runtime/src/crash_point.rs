//! Named steps at which a worker kills itself when a test asks for it: proof that a crash there loses and doubles nothing.
//! Without the feature `crash-points` a step is no code at all.

/// A step has been reached: `CONNECT_CRASH_POINT=<name>:<n>` in the environment kills the process with SIGKILL when the
/// step of this name is reached for the n-th time. Called once a batch, a transaction or a commit, never once a record.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub(crate) fn reached(_name: &'static str) {}

#[cfg(feature = "crash-points")]
pub(crate) use armed::reached;

#[cfg(feature = "crash-points")]
mod armed {
    use std::sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    };

    /// What the environment variable is called.
    const VARIABLE: &str = "CONNECT_CRASH_POINT";
    /// Every step there is. Those of a transaction come first, in their order; then the offset store of sources that are
    /// not exactly-once, then the commits of sinks.
    const NAMES: [&str; 10] = [
        "before-begin",
        "after-produce",
        "before-offsets",
        "after-offsets",
        "before-commit",
        "after-commit",
        "before-store",
        "after-store",
        "before-sink-commit",
        "after-sink-commit",
    ];

    /// The step that is asked for, and how often it is still passed.
    struct Wanted {
        name: &'static str,
        left: AtomicU64,
    }

    pub(crate) fn reached(name: &'static str) {
        static WANTED: OnceLock<Option<Wanted>> = OnceLock::new();
        debug_assert!(NAMES.contains(&name), "step `{name}` is not in the list");
        let wanted = WANTED.get_or_init(|| {
            let text = std::env::var(VARIABLE).ok()?;
            // A test that waits for a crash that cannot come says nothing: better none at all.
            let (name, left) = parse(&text).unwrap_or_else(|why| {
                tracing::error!("{why}");
                std::process::exit(1)
            });
            Some(Wanted { name, left: AtomicU64::new(left) })
        });
        let Some(wanted) = wanted.as_ref().filter(|wanted| wanted.name == name) else { return };
        if wanted.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            // No destructor, no flush, no goodbye: as if the machine had lost its power.
            let _killed = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            std::process::abort();
        }
    }

    fn parse(text: &str) -> Result<(&'static str, u64), String> {
        let (name, n) = text.split_once(':').unwrap_or((text, ""));
        let known = NAMES.iter().find(|known| **known == name);
        match (known, n.parse::<u64>()) {
            (Some(name), Ok(n)) if n > 0 => Ok((name, n)),
            _ => Err(format!(
                "`{VARIABLE}` is `{text}`; it must be `<step>:<n>`, n at least 1, and the step one of {}",
                NAMES.map(|name| format!("`{name}`")).join(", ")
            )),
        }
    }

    #[cfg(test)]
    mod tests {
        use std::{os::unix::process::ExitStatusExt, process::Command};

        use super::*;

        /// Does nothing, unless [`the_process_dies_at_its_step_and_not_before`] runs it in a process of its own.
        #[test]
        fn three_commits() {
            for _ in 0..3 {
                reached("before-commit");
                reached("after-commit");
            }
        }

        #[test]
        fn the_process_dies_at_its_step_and_not_before() {
            for (point, signal) in [("after-commit:3", Some(9)), ("after-commit:4", None), ("before-begin:1", None)] {
                let mut child = Command::new(std::env::current_exe().unwrap());
                child.args(["--exact", "crash_point::armed::tests::three_commits"]).env(VARIABLE, point);
                let status = child.output().unwrap().status;
                assert_eq!((status.signal(), status.success()), (signal, signal.is_none()), "{point}");
            }
        }

        #[test]
        fn a_step_is_named_with_the_time_it_is_passed() {
            assert_eq!(parse("before-commit:3"), Ok(("before-commit", 3)));
            for wrong in ["", "before-commit", "before-commit:", "before-commit:0", "before-commit:x", "before:1", ":1"]
            {
                let why = parse(wrong).unwrap_err();
                assert!(why.contains(VARIABLE) && why.contains("`after-sink-commit`"), "{wrong}: {why}");
            }
        }
    }
}
