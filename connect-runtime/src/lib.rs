//! The Kafka Connect worker as a library.

pub mod config;
pub mod converters;
pub mod kafka;
