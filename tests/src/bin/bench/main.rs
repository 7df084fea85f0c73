//! Speed of the worker on the real broker, beside the speed of the client library alone and of Java's worker. Run by
//! `cargo xtask bench`, built for release.

mod batch_queue;
mod data;
mod eos;
mod measure;
mod pipeline;
mod report;
mod tight_loop;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

/// The buffer of whatever reads or writes a large file.
const BUFFER_BYTES: usize = 1 << 20;

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// File to topic and topic to file: a tight loop over the client library, our worker, Java's worker.
    Pipeline(pipeline::Options),
    /// File to topic exactly once: what it costs against at-least-once, by bytes in a transaction, and beside Java's.
    Eos(eos::Options),
    /// Writes each line of a file to a topic. The parent measures this process.
    #[command(hide = true)]
    ProduceLoop { bootstrap: String, topic: String, file: PathBuf },
    /// As `produce-loop`, in transactions of so many milliseconds.
    #[command(hide = true)]
    TransactionLoop { bootstrap: String, topic: String, file: PathBuf, interval_ms: u64 },
    /// Writes each record of a topic to a file, as a line. The parent measures this process.
    #[command(hide = true)]
    ConsumeLoop { bootstrap: String, topic: String, file: PathBuf, records: u64 },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Pipeline(options) => pipeline::run(&options),
        Command::Eos(options) => eos::run(&options),
        Command::TransactionLoop { bootstrap, topic, file, interval_ms } => {
            tight_loop::produce_in_transactions(&bootstrap, &topic, &file, Duration::from_millis(interval_ms));
            ExitCode::SUCCESS
        }
        Command::ProduceLoop { bootstrap, topic, file } => {
            tight_loop::produce(&bootstrap, &topic, &file);
            ExitCode::SUCCESS
        }
        Command::ConsumeLoop { bootstrap, topic, file, records } => {
            tight_loop::consume(&bootstrap, &topic, &file, records);
            ExitCode::SUCCESS
        }
    }
}
