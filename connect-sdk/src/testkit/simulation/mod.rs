//! Simulation of whole tasks: the worker's own loops on Kafka in memory, on virtual time, in an order that a seed decides.
//!
//! `driver.rs` runs a world, `mortal.rs` is a process that may die at any point, `journal.rs` has its steps, `trouble.rs`
//! what goes wrong around a connector; `source/` and `sink/` are the worlds themselves. Kafka, consumer group, offset
//! store and clock are the ones of the rest of the testkit.

mod driver;
mod journal;
mod mortal;
mod runs;
mod sink;
mod source;
mod trouble;

pub use runs::SimulationReport;
pub use sink::{SinkSimulation, simulate_sink};
pub use source::{SourceSimulation, simulate_source};
