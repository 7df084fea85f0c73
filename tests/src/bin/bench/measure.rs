//! Watching a process at work from outside: how far it is, and how much processor time it has used.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use connect_tests::Worker;

const INTERVAL: Duration = Duration::from_millis(5);
const TIMEOUT: Duration = Duration::from_secs(600);
/// The part of the work that is not measured: start-up, first connections, a JVM's compilation.
const WARM_UP: f64 = 0.2;
/// A shorter measurement is mostly noise: the system counts processor time in steps of 10 ms.
const MEASURED_MIN: Duration = Duration::from_millis(200);

/// What one run gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measurement {
    pub(crate) records_per_second: f64,
    pub(crate) cpu_us_per_record: f64,
}

/// What there is to do, and how its end is recognised.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// The whole, in the unit of `done()`; what stands for more (markers of transactions) may come on top.
    pub(crate) total: u64,
    /// How many records that is.
    pub(crate) records: u64,
    /// The work is done when the whole is reached and nothing has changed for so long.
    pub(crate) quiet: Duration,
    /// How much of the last change does not belong to the work: the marker of the last transaction.
    pub(crate) slack: u64,
}

/// A moment at which something had changed.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Instant,
    done: u64,
    cpu: Duration,
}

/// Waits until the work is done and measures it from a fifth of the way on.
///
/// # Panics
/// The process ends before the work is done, or takes longer than 10 minutes, or the work is too small to be measured.
pub(crate) fn watch(process: &mut Worker, work: Work, mut done: impl FnMut() -> u64) -> Measurement {
    let deadline = Instant::now() + TIMEOUT;
    let part = |done: u64| done as f64 / work.total as f64;
    let mut cpu = Duration::ZERO;
    let mut samples: Vec<Sample> = Vec::new();
    loop {
        let at = Instant::now();
        let ended = process.ended();
        let reached = done();
        cpu = cpu.max(cpu_time(process.pid()).unwrap_or_default());
        if samples.last().is_none_or(|last| last.done != reached) {
            samples.push(Sample { at, done: reached, cpu });
        }
        let quiet = samples.last().is_some_and(|last| last.at.elapsed() >= work.quiet);
        if reached >= work.total && (quiet || ended.is_some()) {
            return measured(&samples, work, cpu);
        }
        if let Some(status) = ended {
            assert!(reached >= work.total, "the process ended with {status} after {:.1} %", 100.0 * part(reached));
        }
        assert!(at < deadline, "not within {TIMEOUT:?}: {:.1} % done", 100.0 * part(reached));
        thread::park_timeout(INTERVAL);
    }
}

fn measured(samples: &[Sample], work: Work, cpu_at_end: Duration) -> Measurement {
    let whole = samples.last().map_or(0, |sample| sample.done);
    let warm = (whole as f64 * WARM_UP) as u64;
    let first = samples.iter().find(|sample| sample.done >= warm).expect("the whole is more than the warm-up");
    let reached = |sample: &&Sample| sample.done + work.slack >= whole;
    let last = samples.iter().find(reached).expect("the last sample is the whole");
    let took = last.at - first.at;
    assert!(took >= MEASURED_MIN, "only {took:?} could be measured, {MEASURED_MIN:?} are needed: raise `--mib`");
    let records = (last.done - first.done) as f64 / whole as f64 * work.records as f64;
    // A process that ends with its work has used its last time after the last look.
    let cpu = if work.quiet.is_zero() { cpu_at_end } else { last.cpu };
    Measurement {
        records_per_second: records / took.as_secs_f64(),
        cpu_us_per_record: (cpu - first.cpu).as_secs_f64() * 1e6 / records,
    }
}

/// User and system time of a process, ended threads included; `None` when it has ended.
fn cpu_time(pid: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets and can hold blanks; user and system time are fields 14 and 15.
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}
