//! The command line of a worker: the only place that wires the rooms together.

mod connector_file;
mod dev;
mod logging;
mod screen;
mod serve;
mod signals;
mod standalone;
mod view;

use clap::{Parser, Subcommand};
use connect_sdk::plugin::Plugins;
use std::{path::PathBuf, process::ExitCode};

/// Exit status when the worker's own configuration is wrong: nothing was started.
const EXIT_CONFIG: u8 = 1;
/// Exit status when no connector could be started.
const EXIT_NO_CONNECTOR: u8 = 3;

/// Runs Kafka connectors.
#[derive(Parser)]
#[command(name = "connect", version, about, max_term_width = 100)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs connectors in one process, with source offsets in a file or in a topic.
    ///
    /// Takes the property files of Kafka's connect-standalone unchanged. Exit status: 0 after a graceful stop, 1 if the
    /// worker's own configuration is wrong (nothing was started), 3 if no connector could be started.
    Standalone {
        /// The worker's properties.
        worker: PathBuf,
        /// One file for each connector: properties, or JSON as Kafka's REST API takes it.
        connectors: Vec<PathBuf>,
    },
    /// Runs connectors on a broker inside this process, for trying things out: no Kafka is needed.
    ///
    /// The broker is a mock: it keeps everything in memory, nothing survives the end of the process; each partition
    /// keeps about its newest 5 MiB; it has no transaction isolation, no compaction and no other clients. Topics have
    /// one partition. Source offsets are kept in memory. Keys are converted by StringConverter and values by
    /// JsonConverter without schemas, unless a connector names others.
    Dev {
        /// One file for each connector; without any, the sample of the repository (config/dev) is run.
        connectors: Vec<PathBuf>,
        /// Plain lines instead of the live view, also on a terminal.
        #[arg(long)]
        plain: bool,
    },
}

/// Runs the command line of a worker that is built with these plugins, and answers its exit status.
///
/// A worker of your own is this one line:
///
/// ```no_run
/// # use connect_sdk::plugin::Plugins;
/// fn main() -> std::process::ExitCode {
///     connect_runtime::cli::main(Plugins::new())
/// }
/// ```
#[must_use]
pub fn main(plugins: Plugins) -> ExitCode {
    let args = Args::parse();
    logging::init();
    let plugins = crate::converters::classes().into_iter().fold(plugins, Plugins::converter);
    if !plugins.clashes().is_empty() {
        for clash in plugins.clashes() {
            tracing::error!("{clash}");
        }
        return ExitCode::from(EXIT_CONFIG);
    }
    match args.command {
        Command::Standalone { worker, connectors } => standalone::run(plugins, &worker, &connectors),
        Command::Dev { connectors, plain } => dev::run(plugins, &connectors, plain),
    }
}
