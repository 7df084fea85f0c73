//! Write Kafka connectors in Rust without thinking about offsets.
//!
//! An author writes one type: a [`Source`](source::Source) born from cursors, a [`DirectSink`](sink::DirectSink) or a
//! [`BufferedSink`](sink::BufferedSink). The attributes `#[source_connector]` and `#[sink_connector]` check it and bind it
//! to the framework, which owns every position. `connect-runtime` executes it on Kafka.
#![forbid(unsafe_code)]
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod config;
pub mod converter;
pub mod data;
#[doc(hidden)]
#[allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "for the worker alone, which is released together with this crate"
)]
pub mod erased;
pub mod error;
pub mod header;
pub mod java;
#[doc(hidden)]
pub mod nearest;
pub mod plugin;
pub mod sink;
pub mod source;
#[doc(hidden)]
#[allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "for the worker alone, which is released together with this crate"
)]
pub mod task;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
pub mod transform;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use config::{ConfigEnum, ConnectorConfig};
pub use connect_macros::{sink_connector, source_connector};
pub use data::ConnectData;
pub use source::{SourceOffset, SourcePartition};

/// Everything that a connector usually needs: `use connect_sdk::prelude::*;`.
pub mod prelude {
    pub use crate::{
        config::{ConfigEnum, ConnectorConfig, Password},
        data::{ConnectData, DataError, Schema, SchemaAndValue, Struct, Text, Value},
        error::{Class, Classify, Result, ResultExt, TaskError},
        header::Headers,
        plugin::Plugins,
        sink::{
            BufferedSink, CloseReason, DirectSink, Position, PreCommit, PutCx, Safe, SinkRecord, StartOffsets,
            TopicPartition,
        },
        sink_connector,
        source::{
            Batch, CommitHook, Committed, Cursor, Cursors, Record, Source, SourceOffset, SourcePartition, Viable,
        },
        source_connector,
        task::{OpenCx, TaskInfo},
    };
}
