//! Write Kafka connectors in Rust.
#![forbid(unsafe_code)]

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod config;
pub mod data;
pub mod header;
pub mod java;
