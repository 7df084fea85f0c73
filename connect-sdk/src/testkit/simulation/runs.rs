//! `Runs`: many worlds, one after the other, and what they have shown.

use super::journal::Journal;
use crate::testkit::Random;
use std::{
    collections::BTreeMap,
    ops::Range,
    time::{Duration, Instant},
};

/// Chooses one world: a seed, or `crash-` and the number of a point at which a task dies.
const SEED_VAR: &str = "CONNECT_SIM_SEED";
/// Chooses how many seeds are tried.
const SEEDS_VAR: &str = "CONNECT_SIM_SEEDS";
const CRASH: &str = "crash-";
const SEEDS_DEFAULT: Range<u64> = 0..50;
/// How many points of a life are tried as its last one; of a longer life the first ones and random ones of the rest.
const CRASH_POINTS_MAX: u64 = 400;
/// How long one simulation may take unless a number of seeds is asked for; what is not tried by then is left out.
const TIME_MAX: Duration = Duration::from_secs(60);

/// What a simulation has tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulationReport {
    /// Worlds that were drawn from a seed.
    pub seeds: u64,
    /// Worlds in which a task died at a certain point of a short life.
    pub crash_points: u64,
    /// Steps of all worlds.
    pub steps: u64,
    /// A sum over all steps: two simulations with equal sums had the same steps.
    pub sum: u64,
    seen: BTreeMap<&'static str, u64>,
}

impl SimulationReport {
    /// How often a rare order of events was met.
    #[must_use]
    pub fn seen(&self, what: &str) -> u64 {
        self.seen.get(what).copied().unwrap_or(0)
    }

    /// The rare orders of events that were met, with their numbers.
    pub fn rare_events(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.seen.iter().map(|(what, n)| (*what, *n))
    }

    fn add(&mut self, journal: &Journal) {
        self.steps += journal.n_steps();
        self.sum = self.sum.wrapping_mul(31).wrapping_add(journal.sum());
        for (what, n) in journal.seen() {
            *self.seen.entry(what).or_default() += n;
        }
    }
}

/// Which worlds to try.
#[derive(Debug)]
pub(super) struct Runs {
    connector: &'static str,
    seeds: Range<u64>,
    crash_points_max: u64,
}

impl Runs {
    pub(super) fn new(connector: &'static str) -> Self {
        Self { connector, seeds: SEEDS_DEFAULT, crash_points_max: CRASH_POINTS_MAX }
    }

    pub(super) fn seeds(&mut self, seeds: Range<u64>) {
        self.seeds = seeds;
    }

    pub(super) fn crash_points(&mut self, max: u64) {
        self.crash_points_max = max;
    }

    /// Runs a world for each seed, then those of each point of death, until `to_death` answers that no life has such a
    /// point.
    pub(super) fn all(
        self,
        of_seed: impl Fn(u64) -> Result<Journal, String>,
        to_death: impl Fn(u64) -> Result<Vec<Journal>, String>,
    ) -> Result<SimulationReport, String> {
        let mut report = SimulationReport::default();
        let connector = self.connector;
        let failed = |seed: String, text: String| {
            format!(
                "in the world of seed {seed}, {text}\nrun it again alone with {SEED_VAR}={seed} (connector `{connector}`)"
            )
        };
        if let Ok(chosen) = std::env::var(SEED_VAR) {
            if let Some(n) = chosen.strip_prefix(CRASH) {
                let n = number(SEED_VAR, n)?;
                for journal in to_death(n).map_err(|text| failed(chosen.clone(), text))? {
                    report.crash_points += 1;
                    report.add(&journal);
                }
            } else {
                let seed = number(SEED_VAR, &chosen)?;
                report.add(&of_seed(seed).map_err(|text| failed(chosen.clone(), text))?);
                report.seeds = 1;
            }
            return Ok(report);
        }
        let asked = std::env::var(SEEDS_VAR).ok().map(|n| number(SEEDS_VAR, &n)).transpose()?;
        let seeds = asked.map_or(self.seeds.clone(), |n| self.seeds.start..self.seeds.start.saturating_add(n));
        let started = Instant::now();
        let is_late = || asked.is_none() && started.elapsed() > TIME_MAX;
        for seed in seeds {
            if is_late() {
                break;
            }
            report.add(&of_seed(seed).map_err(|text| failed(seed.to_string(), text))?);
            report.seeds += 1;
        }
        let mut n = 1;
        while report.crash_points < self.crash_points_max && !is_late() {
            let journals = to_death(n).map_err(|text| failed(format!("{CRASH}{n}"), text))?;
            if journals.is_empty() {
                break;
            }
            report.crash_points += journals.len() as u64;
            journals.iter().for_each(|journal| report.add(journal));
            n += if n < self.crash_points_max / 2 { 1 } else { 1 + Random::new(n).below(5) as u64 };
        }
        Ok(report)
    }
}

fn number(variable: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{variable}` is `{text}`; it must be a number, or `{CRASH}` and a number"))
}
