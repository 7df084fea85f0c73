//! The Kafka Connect worker as a library.

pub mod converters;
pub mod kafka;
