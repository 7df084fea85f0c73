//! The command line of the repository's tasks: `cargo xtask <task>`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the tasks talk to the person at the terminal")]

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use xtask::error::Result;
use xtask::kafka::{self, Instance, Jars, Origin};
use xtask::{bench, chaos, docs, fuzz, mutants, test, tidy};

/// Tasks of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Every test of the workspace (unit, UI, doc, integration), with a real broker that is started and stopped.
    Test {
        /// What `cargo test` takes: a name to filter by, `--test <file>`, and after `--` options of the tests themselves.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Formatting, lints, documentation, licences, and the rules of the house.
    Tidy {
        /// Only what takes seconds: formatting, licences and the rules of the house.
        #[arg(long)]
        quick: bool,
    },
    /// Puts known faults back, one at a time, and expects a named test to fail.
    Mutants {
        /// Parts of the names of mutants in `tests/mutants`; all of them if none is given.
        names: Vec<String>,
    },
    /// Fuzz targets, each for a while; skipped with a word where no nightly compiler is installed.
    Fuzz {
        /// Which; all if none is named.
        targets: Vec<String>,
        /// How long each runs, in seconds.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Writes the pages of docs/reference from the definitions of the configuration keys.
    Docs,
    /// Speed, on a real broker: `bench pipeline --help` says what can be chosen.
    Bench {
        /// The benchmark's name and options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
    /// Kill, freeze, cut off and fill up, on a real broker, and look whether records were lost or doubled: `chaos --help`
    /// says what can be chosen, `chaos --release` does it to a release build.
    Chaos {
        /// The chaos's options.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// A real Apache Kafka broker on loopback.
    Kafka {
        #[command(subcommand)]
        action: KafkaAction,
    },
}

#[derive(Debug, Subcommand)]
enum KafkaAction {
    /// Start the broker, with the data of its last run, and print its address.
    Start {
        /// Which broker: each name has its own data and ports.
        #[arg(long, default_value = "default")]
        instance: String,
        /// A key of server.properties, as `key=value`; can be given several times.
        #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
        properties: Vec<(String, String)>,
    },
    /// Stop the broker.
    Stop {
        /// Which broker.
        #[arg(long, default_value = "default")]
        instance: String,
        /// Remove its data too.
        #[arg(long)]
        remove: bool,
    },
    /// Say which brokers run, and where.
    Status,
}

fn key_value(text: &str) -> std::result::Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`"))?;
    Ok((key.to_owned(), value.to_owned()))
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<ExitCode> {
    match task {
        Task::Test { arguments } => test::run(&arguments),
        Task::Tidy { quick } => tidy::run(quick),
        Task::Mutants { names } => mutants::run(&names),
        Task::Bench { arguments } => bench::run(&arguments),
        Task::Docs => docs::run(),
        Task::Chaos { arguments } => chaos::run(&arguments),
        Task::Fuzz { targets, seconds } => fuzz::run(&targets, seconds),
        Task::Kafka { action } => match action {
            KafkaAction::Start { instance, properties } => start(&instance, &properties),
            KafkaAction::Stop { instance, remove } => stop(&instance, remove),
            KafkaAction::Status => Ok(status()),
        },
    }
}

fn start(instance: &str, properties: &[(String, String)]) -> Result<ExitCode> {
    if let Some(bootstrap) = kafka::given_bootstrap() {
        println!("`{}` names a broker: nothing was started", kafka::BOOTSTRAP_VAR);
        println!("{bootstrap}");
        return Ok(ExitCode::SUCCESS);
    }
    let instance = Instance::named(instance)?;
    let jars = Jars::find()?;
    match jars.origin() {
        Origin::Maven => println!("Kafka {} fetched by Maven into `{}`", kafka::VERSION, jars.dir().display()),
        Origin::Docker => println!("Kafka {} copied from Docker into `{}`", kafka::VERSION, jars.dir().display()),
        Origin::KafkaHome | Origin::Cache => {}
    }
    let running = instance.start(&jars, properties)?;
    println!("broker `{}` runs as process {}, log `{}`", instance.name(), running.pid, instance.log().display());
    println!("{}", running.bootstrap);
    Ok(ExitCode::SUCCESS)
}

fn stop(instance: &str, remove: bool) -> Result<ExitCode> {
    let instance = Instance::named(instance)?;
    if instance.stop()? {
        println!("broker `{}` stopped", instance.name());
    } else {
        println!("broker `{}` was not running", instance.name());
    }
    if remove {
        instance.remove()?;
        println!("its data in `{}` are removed", instance.dir().display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Exit code 0 when a broker answers, 1 when none does, for scripts.
fn status() -> ExitCode {
    let mut answers = false;
    let mut report = |name: &str, bootstrap: &str, process: &str| {
        let state = match kafka::metadata::cluster(bootstrap, Duration::from_secs(5)) {
            Ok(_) => {
                answers = true;
                "answers".to_owned()
            }
            Err(error) => format!("does not answer: {error}"),
        };
        println!("{name}\t{bootstrap}\t{process}\t{state}");
    };
    if let Some(bootstrap) = kafka::given_bootstrap() {
        report(kafka::BOOTSTRAP_VAR, &bootstrap, "-");
    }
    let mut n_running = 0;
    for instance in Instance::all() {
        if let Some(running) = instance.running() {
            n_running += 1;
            report(instance.name(), &running.bootstrap, &format!("process {}", running.pid));
        }
    }
    if n_running == 0 {
        println!("no broker of this repository runs");
    }
    if answers { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
