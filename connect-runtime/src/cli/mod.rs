//! The command line of a worker: the only place that wires the rooms together.

mod connector_file;
mod dev;
mod logging;
mod plugins;
mod screen;
mod serve;
mod signals;
mod standalone;
mod validate;
mod view;

use clap::{Parser, Subcommand};
use connect_sdk::plugin::Plugins;
use std::{
    io::{ErrorKind, Write as _},
    path::PathBuf,
    process::ExitCode,
};

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
    /// Judges the configurations of connectors without starting anything: every error of each file.
    ///
    /// Covers what Kafka's validation covers: the connector, its converters and what it overrides in its clients. Exit
    /// status: 0 if all is well, 1 if there is an error.
    Validate {
        /// One file for each connector: properties, or JSON as Kafka's REST API takes it.
        #[arg(required = true)]
        connectors: Vec<PathBuf>,
        /// The properties of the worker that would run them: its configuration providers and policies count.
        #[arg(long)]
        worker: Option<PathBuf>,
        /// `json` gives Kafka's ConfigInfos: with values, recommended values, groups and order.
        #[arg(long, value_enum, default_value = "table")]
        format: plugins::Format,
    },
    /// Lists the connectors and converters that are linked into this worker.
    Plugins {
        /// As text, as JSON in the form of Kafka's REST API, or as Markdown.
        #[arg(long, value_enum, default_value = "table")]
        format: plugins::Format,
    },
    /// Shows the configuration keys of a plugin, or those that workers and connectors of a kind have.
    Config {
        /// The class of a plugin, or one of its other names.
        #[arg(required_unless_present = "of")]
        plugin: Option<String>,
        /// Whose keys, instead of a plugin's.
        #[arg(long, value_enum, conflicts_with = "plugin")]
        of: Option<plugins::Owner>,
        /// As text, as JSON in the form of Kafka's REST API, or as Markdown.
        #[arg(long, value_enum, default_value = "table")]
        format: plugins::Format,
    },
}

/// Writes to standard output; a reader that has gone is no error of ours.
fn print(text: &str) -> ExitCode {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "standard output cannot be written");
            ExitCode::FAILURE
        }
    }
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
    let plugins = crate::converters::classes().into_iter().fold(plugins, Plugins::with_converter_class);
    let plugins = crate::transforms::register(plugins);
    let plugins = crate::transforms::predicates::register(plugins);
    if !plugins.clashes().is_empty() {
        for clash in plugins.clashes() {
            tracing::error!("{clash}");
        }
        return ExitCode::from(EXIT_CONFIG);
    }
    match args.command {
        Command::Standalone { worker, connectors } => standalone::run(plugins, &worker, &connectors),
        Command::Dev { connectors, plain } => dev::run(plugins, &connectors, plain),
        Command::Validate { connectors, worker, format } => {
            validate::run(&plugins, worker.as_deref(), &connectors, format)
        }
        Command::Plugins { format } => plugins::list(&plugins, format),
        Command::Config { plugin: Some(class), format, .. } => plugins::plugin_keys(&plugins, &class, format),
        Command::Config { of: Some(owner), format, .. } => plugins::owner_keys(&plugins, owner, format),
        Command::Config { plugin: None, of: None, .. } => unreachable!("the parser asks for one of the two"),
    }
}
