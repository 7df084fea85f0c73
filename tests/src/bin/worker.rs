//! The worker under test with the connectors of the tests: Kafka Connect's command line as `connect` has it.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    connect_runtime::cli::main(connect_tests::connectors::plugins())
}
