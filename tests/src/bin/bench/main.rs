//! Speed of the worker on the real broker, beside the speed of the client library alone and of Java's worker. Run by
//! `cargo xtask bench`, built for release.

mod batch_queue;
mod measure;
mod pipeline;
mod report;
mod tight_loop;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// File to topic and topic to file: a tight loop over the client library, our worker, Java's worker.
    Pipeline(pipeline::Options),
    /// Writes each line of a file to a topic. The parent measures this process.
    #[command(hide = true)]
    ProduceLoop { bootstrap: String, topic: String, file: PathBuf },
    /// Writes each record of a topic to a file, as a line. The parent measures this process.
    #[command(hide = true)]
    ConsumeLoop { bootstrap: String, topic: String, file: PathBuf, records: u64 },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Pipeline(options) => pipeline::run(&options),
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
