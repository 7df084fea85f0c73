//! What the benchmark prints: a table with the median and the spread of each contender's runs, and the ratios that must
//! be kept.

use crate::measure::Measurement;

/// The runs of one contender.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) runs: Vec<Measurement>,
}

/// The results of one direction and record size.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) value_bytes: u64,
    pub(crate) rows: Vec<Row>,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Rate,
    Cpu,
}

/// The least or the greatest that a ratio may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    AtLeast(f64),
    AtMost(f64),
    /// Worth seeing only.
    None,
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Cpu => "CPU",
        }
    }

    fn of(self, measured: &Measurement) -> f64 {
        match self {
            Self::Rate => measured.records_per_second,
            Self::Cpu => measured.cpu_us_per_record,
        }
    }
}

impl Limit {
    fn is_kept(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(limit) => ratio >= limit,
            Self::AtMost(limit) => ratio <= limit,
            Self::None => true,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(limit) => format!(", must be >= {limit:.2}"),
            Self::AtMost(limit) => format!(", must be <= {limit:.2}"),
            Self::None => String::new(),
        }
    }
}

impl Row {
    /// The least, the median and the greatest of all runs.
    fn spread(&self, figure: Figure) -> (f64, f64, f64) {
        let mut all: Vec<f64> = self.runs.iter().map(|run| figure.of(run)).collect();
        all.sort_by(f64::total_cmp);
        let last = all.len() - 1;
        (all[0], (all[last / 2] + all[last.div_ceil(2)]) / 2.0, all[last])
    }
}

impl Table {
    /// Prints one line for each contender.
    pub(crate) fn print(&self) {
        println!("\n{}", self.title);
        println!("  {:34} {:>12} {:>25} {:>8} {:>14}", "", "records/s", "(least - greatest)", "MB/s", "CPU us/record");
        for row in &self.rows {
            let (least, rate, greatest) = row.spread(Figure::Rate);
            let megabytes = rate * self.value_bytes as f64 / 1e6;
            let (_, cpu, _) = row.spread(Figure::Cpu);
            let spread = format!("({least:.0} - {greatest:.0})");
            println!("  {:34} {rate:>12.0} {spread:>25} {megabytes:>8.0} {cpu:>14.3}", row.name);
        }
    }

    /// The ratio of two contenders' medians; none if one of them did not run.
    pub(crate) fn ratio(&self, figure: Figure, of: &str, to: &str) -> Option<f64> {
        let median = |name: &str| self.rows.iter().find(|row| row.name == name).map(|row| row.spread(figure).1);
        Some(median(of)? / median(to)?)
    }

    /// Prints a ratio, if both have run; false if it is not what it must be.
    pub(crate) fn demand(&self, figure: Figure, of: &str, to: &str, limit: Limit) -> bool {
        let Some(ratio) = self.ratio(figure, of, to) else { return true };
        let kept = limit.is_kept(ratio);
        let missed = if kept { "" } else { ": MISSED" };
        println!("  {} of {of} to {to}: {ratio:.2}{}{missed}", figure.name(), limit.text());
        kept
    }
}
