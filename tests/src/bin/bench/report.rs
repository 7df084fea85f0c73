//! What the benchmark prints: one table a direction and record size, with the ratios that the worker must keep.

use clap::ValueEnum;

use crate::measure::Measurement;

/// Our rate against the tight loop's, at least.
const RATE_MIN: f64 = 0.8;
/// Our processor time per record against Java's with the same producer settings, at most.
const CPU_MAX_TUNED: f64 = 0.5;
/// Our processor time per record against Java's with its defaults, at most.
const CPU_MAX_DEFAULT: f64 = 0.2;

/// Who ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Contender {
    /// The client library alone.
    TightLoop,
    /// The worker of this repository.
    Worker,
    /// Java's worker with the client settings of ours.
    JavaTuned,
    /// Java's worker as it comes.
    JavaDefault,
}

/// The results of one direction and record size.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) value_bytes: u64,
    pub(crate) rows: Vec<(Contender, Measurement)>,
}

impl Contender {
    fn name(self) -> &'static str {
        match self {
            Self::TightLoop => "tight rdkafka loop",
            Self::Worker => "this worker",
            Self::JavaTuned => "Java, same client settings",
            Self::JavaDefault => "Java, its defaults",
        }
    }
}

impl Table {
    /// Prints the table and its ratios; false if a ratio that must be kept is not.
    pub(crate) fn print(&self) -> bool {
        println!("\n{}", self.title);
        println!("  {:28} {:>12} {:>9} {:>14}", "", "records/s", "MB/s", "CPU us/record");
        for (contender, measured) in &self.rows {
            let rate = measured.records_per_second;
            let megabytes = rate * self.value_bytes as f64 / 1e6;
            println!("  {:28} {rate:>12.0} {megabytes:>9.0} {:>14.3}", contender.name(), measured.cpu_us_per_record);
        }
        let rate = |of: &Measurement| of.records_per_second;
        let cpu = |of: &Measurement| of.cpu_us_per_record;
        // Every ratio is printed, also after one that is missed.
        let kept = [
            self.ratio("rate", Contender::TightLoop, rate)
                .map(|ratio| verdict(ratio, ratio >= RATE_MIN, ">=", RATE_MIN)),
            self.ratio("CPU", Contender::JavaTuned, cpu).map(|r| verdict(r, r <= CPU_MAX_TUNED, "<=", CPU_MAX_TUNED)),
            self.ratio("CPU", Contender::JavaDefault, cpu)
                .map(|r| verdict(r, r <= CPU_MAX_DEFAULT, "<=", CPU_MAX_DEFAULT)),
        ];
        kept.into_iter().flatten().all(|kept| kept)
    }

    fn ratio(&self, what: &str, to: Contender, of: impl Fn(&Measurement) -> f64) -> Option<f64> {
        let find = |contender| self.rows.iter().find(|(row, _)| *row == contender).map(|(_, measured)| of(measured));
        let ratio = find(Contender::Worker)? / find(to)?;
        print!("  {what} of this worker to {}: ", to.name());
        Some(ratio)
    }
}

fn verdict(ratio: f64, kept: bool, relation: &str, limit: f64) -> bool {
    println!("{ratio:.2}, must be {relation} {limit:.2}{}", if kept { "" } else { ": MISSED" });
    kept
}
