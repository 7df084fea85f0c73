//! Chaos against the worker on a real broker: `cargo xtask chaos` builds and runs this.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use connect_tests::chaos::{Arena, Case, Options, run};

/// Breaks workers, brokers, connections and disks, and looks whether records were lost or doubled.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask chaos", disable_help_subcommand = true)]
struct Cli {
    /// How many cycles to run.
    #[arg(long, default_value_t = 100)]
    cycles: u64,
    /// Decides what every cycle does; by default another one each time.
    #[arg(long)]
    seed: Option<u64>,
    /// The number of the first cycle, to try one again.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Only these cases, as `eos-kill`, `sink` or `zombie`; can be given several times.
    #[arg(long, value_name = "CASE")]
    only: Vec<String>,
    /// End with so many failed cycles.
    #[arg(long, default_value_t = 1)]
    failures: usize,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut cases = Vec::new();
    for name in &cli.only {
        let named = Case::named(name);
        if named.is_empty() {
            let all: Vec<String> = Case::all().iter().map(ToString::to_string).collect();
            eprintln!("error: there is no case `{name}`; there are {}", all.join(", "));
            return ExitCode::from(2);
        }
        cases.extend(named);
    }
    if cases.is_empty() {
        cases = Case::all();
    }
    let seed = cli.seed.unwrap_or_else(|| xtask::repo::random() >> 32);
    println!("seed {seed}");
    let mut arena = Arena::start();
    let options = Options { seed, first: cli.first, cycles: cli.cycles, cases, failures_max: cli.failures };
    let report = run(&mut arena, &options, |line| println!("{line}"));
    println!("{report}");
    for failure in &report.failures {
        println!("\nFAILED: {failure}");
    }
    if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
