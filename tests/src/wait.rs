//! Waiting for a condition with a deadline, which is what a test does in place of sleeping.

use std::thread;
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(20);

/// Calls `probe` until it gives a value, and returns that.
///
/// # Panics
/// `timeout` passed first: the panic says `what` was waited for.
pub fn eventually<T>(what: &str, timeout: Duration, mut probe: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(Instant::now() < deadline, "not within {timeout:?}: {what}");
        thread::park_timeout(INTERVAL);
    }
}

/// Calls `probe` until it is true.
///
/// # Panics
/// `timeout` passed first: the panic says `what` was waited for.
pub fn eventually_true(what: &str, timeout: Duration, mut probe: impl FnMut() -> bool) {
    eventually(what, timeout, || probe().then_some(()));
}
