//! A worker with the two connectors.
#![forbid(unsafe_code)]

use connect_sdk::plugin::Plugins;
use first_connector::{FileLines, Lines};

fn main() -> std::process::ExitCode {
    connect_runtime::cli::main(Plugins::new().source::<FileLines>().sink::<Lines>())
}
