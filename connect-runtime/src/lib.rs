//! The Kafka Connect worker as a library.
