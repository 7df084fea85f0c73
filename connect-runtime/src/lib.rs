//! The Kafka Connect worker as a library.

pub mod kafka;
