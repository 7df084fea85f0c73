//! Write Kafka connectors in Rust.
#![forbid(unsafe_code)]

pub mod config;
