//! Watching a process at work from outside: how far it is, and how much processor time it has used.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use connect_tests::Worker;

const INTERVAL: Duration = Duration::from_millis(5);
/// The part of the work that is not measured: start-up, first connections, a JVM's compilation.
const WARM_UP: f64 = 0.2;

/// What one run gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measurement {
    pub(crate) records_per_second: f64,
    pub(crate) cpu_us_per_record: f64,
}

/// Waits until `done()` has reached `total` and measures from a fifth of the way on. `done` and `total` are in the same
/// unit, records or bytes; `records` is how many records `total` stands for.
///
/// # Panics
/// The process ends before the work is done, or `timeout` passes.
pub(crate) fn watch(
    process: &mut Worker,
    total: u64,
    records: u64,
    timeout: Duration,
    mut done: impl FnMut() -> u64,
) -> Measurement {
    let deadline = Instant::now() + timeout;
    let part = |done: u64| done as f64 / total as f64;
    let mut start = None;
    loop {
        let now = Instant::now();
        let reached = done();
        // Read before the end is noticed: a process that ends with its work has no processor time afterwards.
        let cpu = cpu_time(process.pid());
        if start.is_none() && part(reached) >= WARM_UP {
            start = Some((now, reached, cpu));
        }
        if reached >= total {
            let (start, first, start_cpu) = start.expect("the whole is more than the warm-up");
            let measured = part(reached - first) * records as f64;
            return Measurement {
                records_per_second: measured / (now - start).as_secs_f64(),
                cpu_us_per_record: (cpu - start_cpu).as_secs_f64() * 1e6 / measured,
            };
        }
        if let Some(status) = process.ended() {
            // What it did last may have become visible only now.
            let reached = done();
            assert!(reached >= total, "the process ended with {status} after {:.1} %", 100.0 * part(reached));
        }
        assert!(now < deadline, "not within {timeout:?}: {:.1} % done", 100.0 * part(reached));
        thread::park_timeout(INTERVAL);
    }
}

/// User and system time of a process, ended threads included; zero when it has ended.
fn cpu_time(pid: u32) -> Duration {
    let Ok(text) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return Duration::ZERO };
    // The second field is the program's name in brackets and can hold blanks; user and system time are fields 14 and 15.
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}
