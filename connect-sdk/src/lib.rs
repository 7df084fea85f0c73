//! Write Kafka connectors in Rust without thinking about offsets.
//!
//! An author writes one type: a [`Source`](source::Source) born from cursors, a [`DirectSink`](sink::DirectSink) or a
//! [`BufferedSink`](sink::BufferedSink). The attributes `#[source_connector]` and `#[sink_connector]` check it and bind it
//! to the framework, which owns every position. `connect-runtime` executes it on Kafka.
//!
//! # A sink that collects records
//!
//! It keeps whole records and says before each commit which of them are not written yet: no offset is ever computed.
//!
//! ```
//! use connect_sdk::prelude::*;
//! use std::path::PathBuf;
//! use tokio::fs::{File, OpenOptions};
//! use tokio::io::AsyncWriteExt;
//!
//! #[derive(ConnectorConfig)]
//! pub struct LinesConfig {
//!     /// The file to append to.
//!     path: PathBuf,
//!     /// Write once this many records have come together.
//!     #[config(default = 1000, range = 1..)]
//!     flush_size: usize,
//! }
//!
//! pub struct Lines {
//!     file: File,
//!     flush_size: usize,
//!     held: Vec<SinkRecord>,
//! }
//!
//! impl Lines {
//!     async fn write(&mut self) -> Result<()> {
//!         let mut text = String::new();
//!         for record in &self.held {
//!             text.push_str(&record.value_text());
//!             text.push('\n');
//!         }
//!         self.file.write_all(text.as_bytes()).await.retriable()?;
//!         self.file.sync_data().await.retriable()?;
//!         self.held.clear();
//!         Ok(())
//!     }
//! }
//!
//! /// Appends record values to a file, one a line.
//! #[sink_connector(name = "lines")]
//! impl BufferedSink for Lines {
//!     type Config = LinesConfig;
//!
//!     async fn open(cfg: &LinesConfig, _: &OpenCx) -> Result<Self> {
//!         let file = OpenOptions::new().append(true).create(true).open(&cfg.path).await.fatal()?;
//!         Ok(Self { file, flush_size: cfg.flush_size, held: Vec::new() })
//!     }
//!
//!     async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
//!         self.held.extend(records);
//!         if self.held.len() >= self.flush_size { self.write().await } else { Ok(()) }
//!     }
//!
//!     async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
//!         Ok(match at {
//!             // Commit up to the first record that is still held in each partition.
//!             PreCommit::Running(offsets) => offsets.except(&self.held),
//!             // The partitions go away: write what is held, for nobody else will.
//!             PreCommit::Closing(offsets) => {
//!                 self.write().await?;
//!                 offsets.all_written()
//!             }
//!         })
//!     }
//! }
//!
//! let plugins = Plugins::new().sink::<Lines>();
//! assert!(plugins.connector("lines").is_some());
//! ```
//!
//! The documentation of [`Source`](source::Source) has a whole source, that of [`DirectSink`](sink::DirectSink) a sink
//! that writes at once.
#![forbid(unsafe_code)]
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod config;
pub mod config_provider;
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
#[doc(inline)]
/// Says which records a transformation is applied to.
///
/// ```
/// use connect_sdk::prelude::*;
///
/// /// Records without a key.
/// #[predicate(name = "HasNoKey")]
/// fn has_no_key(record: &ConnectRecord) -> bool {
///     record.key.value.is_none()
/// }
///
/// let plugins = Plugins::new().predicate::<has_no_key>();
/// assert!(plugins.predicate_class("HasNoKey").is_some());
/// ```
///
/// [`Predicate`](transform::Predicate) has an example with state.
pub use connect_macros::predicate;
#[doc(inline)]
/// Changes or drops records between a connector and its converters.
///
/// ```
/// use connect_sdk::prelude::*;
///
/// #[derive(ConnectorConfig)]
/// pub struct PrefixConfig {
///     /// What comes before the topic.
///     #[config(importance = high)]
///     prefix: String,
/// }
///
/// /// Puts something before the name of the topic.
/// #[transformation(name = "Prefix")]
/// fn prefix(config: &PrefixConfig, mut record: ConnectRecord) -> ConnectRecord {
///     record.topic = format!("{}{}", config.prefix, record.topic).into();
///     record
/// }
///
/// let plugins = Plugins::new().transformation::<prefix>();
/// assert!(plugins.transformation_class("Prefix").is_some());
/// ```
///
/// [`Transformation`](transform::Transformation) has an example with state, [`PartTransformation`](transform::PartTransformation)
/// one for keys and values.
pub use connect_macros::transformation;
pub use connect_macros::{converter, sink_connector, source_connector};
pub use data::ConnectData;
pub use source::{SourceOffset, SourcePartition};

/// Everything that a connector usually needs: `use connect_sdk::prelude::*;`.
pub mod prelude {
    pub use crate::{
        config::{ConfigEnum, ConfigError, ConfigErrors, ConnectorConfig, Password},
        converter::{Converter, ConverterKind, HeaderConverter},
        data::{ConnectData, DataError, Schema, SchemaAndValue, Struct, Text, Value},
        error::{Class, Classify, Result, ResultExt, TaskError},
        header::Headers,
        plugin::Plugins,
        sink::{
            BufferedSink, CloseReason, DirectSink, Position, PreCommit, PutCx, Safe, SinkRecord, StartOffsets,
            TopicPartition,
        },
        source::{
            Batch, CommitHook, Committed, Cursor, Cursors, Record, Source, SourceOffset, SourcePartition, Viable,
        },
        task::{OpenCx, TaskInfo},
        transform::{ConnectRecord, Part, PartTransformation, Predicate, Transformation},
    };
    // The macros alone: a name of ours may be a module's too.
    pub use connect_macros::{converter, predicate, sink_connector, source_connector, transformation};
}
