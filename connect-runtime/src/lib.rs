//! The Kafka Connect worker as a library: executes connectors that were written with connect-sdk.
//!
//! A worker is a program of one line that names its connectors and calls [`cli::main`].

pub mod cli;
mod clock;
pub mod config;
pub mod converters;
mod crash_point;
mod errors;
mod herder;
mod id;
pub mod kafka;
mod plugins;
mod status;
mod storage;
pub mod transforms;
mod worker;
