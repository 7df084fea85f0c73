//! Goal: whatever happens to the worker's own loops, in whatever order, no promise is broken; and a connector that breaks one
//! is found. Method: honest connectors in worlds drawn from seeds, and twins of them that are broken in one place. A
//! failure names its seed; `CONNECT_SIM_SEED` runs it again, `CONNECT_SIM_SEEDS` asks for more worlds than CI tries.
#![cfg(feature = "testkit")]

mod sinks;
mod sources;
#[path = "../sink_kit/target.rs"]
mod target;
