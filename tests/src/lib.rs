//! What integration tests share: a real broker, a client that looks into it, and worker processes to run and to kill.
//!
//! Every function blocks, and panics with what was expected when a step fails or a deadline passes: a test needs no
//! error handling and no async runtime. The broker is the one that `CONNECT_TEST_BOOTSTRAP` names (`cargo xtask test`
//! sets it); without the variable each test process starts one of its own, so that no test is ever skipped.
#![forbid(unsafe_code)]

pub mod broker;
pub mod certificates;
pub mod chaos;
mod cluster;
pub mod connectors;
mod java_distributed;
mod properties;
pub mod proxy;
pub mod reference;
mod secure;
mod standalone;
mod wait;
mod worker;

pub use cluster::{Cluster, Incoming, Isolation, Outcome, Outgoing};
pub use java_distributed::JavaDistributed;
pub use secure::SecureBroker;
pub use standalone::Standalone;
pub use wait::{eventually, eventually_true};
pub use worker::Worker;

/// A name that no other test and no other run uses, for topics, groups and connectors: `prefix-<number>`.
pub fn unique(prefix: &str) -> String {
    format!("{prefix}-{:x}", xtask::repo::random())
}
