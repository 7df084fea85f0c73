//! File source and file sink: drop-in for Kafka's `FileStreamSource` and `FileStreamSink`, without their losses.
//!
//! [`FileStreamSource`] tails files into a topic, a record a line; [`FileStreamSink`] appends record values to a file, a line
//! a record. Both take Kafka's keys and keep its stored offsets.
#![forbid(unsafe_code)]

mod sink;
mod source;

pub use sink::{FileSinkConfig, FileStreamSink};
pub use source::{FileSourceConfig, FileStreamSource, InFile, Pos};
