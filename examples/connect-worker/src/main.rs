//! The ready worker: Kafka Connect's command line with the connectors of this repository.
#![forbid(unsafe_code)]

use connect_sdk::plugin::Plugins;
use file_connector::{FileStreamSink, FileStreamSource};
use first_connector::{FileLines, Lines};

fn main() -> std::process::ExitCode {
    let plugins = Plugins::new().source::<FileStreamSource>().sink::<FileStreamSink>();
    connect_runtime::cli::main(plugins.source::<FileLines>().sink::<Lines>())
}
