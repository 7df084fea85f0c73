//! A real Apache Kafka broker on loopback, for tests, benchmarks and trying things out.
//!
//! [`Instance`] is a broker that outlives the program that started it (`cargo xtask kafka start`); [`Kafka`] is one that
//! belongs to the running process and never outlives it. Both are KRaft brokers in combined mode: one JVM, one node.

mod broker;
mod instance;
mod jars;
mod java;
pub mod metadata;
mod ports;

pub use broker::{Kafka, Options};
pub use instance::{Instance, Running};
pub use jars::{Jars, Origin};
pub use java::Java;
pub use ports::free_port;

/// The version of Apache Kafka that tests run against.
pub const VERSION: &str = "4.3.1";

/// The variable that names a broker which is already there (`host:port`): tests use it and start none.
pub const BOOTSTRAP_VAR: &str = "CONNECT_TEST_BOOTSTRAP";

/// The broker that [`BOOTSTRAP_VAR`] names, if any.
pub fn given_bootstrap() -> Option<String> {
    std::env::var(BOOTSTRAP_VAR).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
