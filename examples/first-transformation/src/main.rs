//! A worker with the transformations, and a source and a sink to try them on.
#![forbid(unsafe_code)]

use connect_sdk::plugin::Plugins;
use file_connector::{FileStreamSink, FileStreamSource};
use first_transformation::{Number, is_blank, shorten};

fn main() -> std::process::ExitCode {
    let plugins = Plugins::new().transformation::<shorten>().transformation::<Number>().predicate::<is_blank>();
    connect_runtime::cli::main(plugins.source::<FileStreamSource>().sink::<FileStreamSink>())
}
