//! Chaos on the real broker: cycles that are decided by a seed, and judged by what a reader of committed records sees.
//!
//! Each cycle has a topic and a connector of its own. Its [`Plan`] is drawn from the run's seed and the cycle's number, so
//! that a failure can be tried again; when things happen in between is up to the machine. The verdicts: an exactly-once
//! source has every record once and in order, and its offsets agree with them whenever nobody is at work; an
//! at-least-once source has every record, and each life of it begins with what was stored; a sink has written whatever is
//! committed, and everything in the end.

mod arena;
mod check;
mod cycle;
mod feeder;
mod observer;
mod plan;
mod rng;
mod rules;
mod sink;
mod stored;
mod subject;

pub use arena::Arena;
pub use cycle::Tally;
pub use plan::{Case, Kind, Plan, Subject};
pub use rules::is_nth;

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Decides every plan.
    pub seed: u64,
    /// The number of the first cycle.
    pub first: u64,
    /// How many cycles.
    pub cycles: u64,
    /// The cases to draw from.
    pub cases: Vec<Case>,
    /// The run ends with its so-manieth failure.
    pub failures_max: usize,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    /// What happened in the cycles without a failure.
    pub tallies: BTreeMap<Case, Tally>,
    /// One text for each cycle that failed.
    pub failures: Vec<String>,
    took: Duration,
}

/// Runs cycles, one after the other; `say` gets a line for each.
pub fn run(arena: &mut Arena, options: &Options, mut say: impl FnMut(&str)) -> Report {
    let begin = Instant::now();
    let mut report = Report::default();
    for number in options.first..options.first + options.cycles {
        let plan = Plan::new(options.seed, number, &options.cases);
        let since = Instant::now();
        match cycle::run(arena, &plan) {
            Ok(tally) => {
                let Tally { kills, crashes, fenced, doubled, .. } = tally;
                let took = since.elapsed().as_secs_f64();
                say(&format!(
                    "cycle {number} {}: ok, {took:.1} s, {kills} kills ({crashes} at a step), {fenced} fenced, {doubled} doubled",
                    plan.case
                ));
                report.tallies.entry(plan.case).or_default().add(tally);
            }
            Err(why) => {
                say(&format!("cycle {number} {}: FAILED: {why}", plan.case));
                report.failures.push(why);
                if report.failures.len() >= options.failures_max {
                    break;
                }
            }
        }
    }
    report.took = begin.elapsed();
    report
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16} {:>7} {:>7} {:>9} {:>7} {:>9}",
            "case", "cycles", "kills", "at a step", "fenced", "doubled"
        )?;
        let mut all = Tally::default();
        let row = |f: &mut fmt::Formatter<'_>, name: &str, t: &Tally| {
            writeln!(f, "{name:<16} {:>7} {:>7} {:>9} {:>7} {:>9}", t.cycles, t.kills, t.crashes, t.fenced, t.doubled)
        };
        for (case, tally) in &self.tallies {
            row(f, &case.to_string(), tally)?;
            all.add(*tally);
        }
        row(f, "all", &all)?;
        write!(f, "{} failed; {:.0} s", self.failures.len(), self.took.as_secs_f64())
    }
}
