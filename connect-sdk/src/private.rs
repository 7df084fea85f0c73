//! The only names that generated code may use.

pub use crate::config::derive_support as config;
pub use crate::data::derive_support as data;
pub use crate::plugin::derive_support as plugin;
pub use crate::{
    __replay_test as replay_test,
    config::{
        ConfigDef, ConfigEnum, ConfigError, ConfigErrors, ConfigType, ConfigValue, ConnectorConfig, Importance,
        ParsedValue, Validator, Width,
    },
    converter::{Converter, ConverterClass, ConverterKind, ConverterPlugin, HeaderConverter},
    data::{ConnectData, DataError, Schema, SchemaAndValue, SchemaBuilder, Value},
    error::{Classify, Result, TaskError},
    sink::{BufferedSink, Direct, DirectSink, PreCommit, Safe, SinkConnector, SinkMeta},
    source::{
        AtLeastOnce, CommitHook, DefinesTransactions, ExactlyOnce, FieldKind, FieldMap, FieldMeta, FieldValue, NoHook,
        PayloadRef, RestoreError, Source, SourceConnector, SourceMeta, SourceOffset, SourcePartition,
        lock::{check_lock, check_lock_is_complete, update_lock},
        offset::{Ops, offset_field, partition_field, restore_field},
    },
    transform::{
        ConnectRecord, Part, PartTransformation, Predicate, PredicateClass, PredicatePlugin, Transformation,
        TransformationClass, TransformationPlugin,
    },
};
pub use ::bytes::Bytes;
pub use ::core;
pub use ::core::{
    option::Option::{self, None, Some},
    result::Result::{Err, Ok},
};
pub use ::std;

/// A default that is written as a text.
#[must_use]
pub fn text(text: &str) -> String {
    text.to_owned()
}

/// The version of a crate, which a build without cargo does not know.
#[must_use]
pub const fn version_or_unknown(version: Option<&'static str>) -> &'static str {
    match version {
        Some(version) => version,
        None => "unknown",
    }
}

/// The description of a source, whose configuration must be a connector's.
#[must_use]
#[track_caller]
pub const fn source_meta<S: Source>(meta: SourceMeta) -> SourceMeta {
    config::check_role::<S::Config>(config::Role::Connector);
    meta
}

/// As [`source_meta`], for a direct sink.
#[must_use]
#[track_caller]
pub const fn direct_sink_meta<S: DirectSink>(meta: SinkMeta) -> SinkMeta {
    config::check_role::<S::Config>(config::Role::Connector);
    meta
}

/// As [`source_meta`], for a buffered sink.
#[must_use]
#[track_caller]
pub const fn buffered_sink_meta<S: BufferedSink>(meta: SinkMeta) -> SinkMeta {
    config::check_role::<S::Config>(config::Role::Connector);
    meta
}

/// Kills and replays a source; what the test that `replay_test = fixture` writes calls.
///
/// # Panics
/// Panics if a replayed source emits anything else than one that was never killed.
#[cfg(feature = "testkit")]
pub fn run_replay<S: SourceConnector>(fixture: impl Fn() -> crate::testkit::Fixture) {
    crate::testkit::replay::<S>(fixture);
}

#[cfg(feature = "testkit")]
#[doc(hidden)]
#[macro_export]
macro_rules! __replay_test {
    ($source:ty, $fixture:path) => {
        $crate::__private::run_replay::<$source>($fixture)
    };
}

#[cfg(not(feature = "testkit"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __replay_test {
    ($source:ty, $fixture:path) => {{
        // Named, so that the fixture is not reported as unused beside the one thing that is wrong.
        _ = $fixture;
        $crate::__private::core::compile_error!(
            "`replay_test` needs the test kit: write in Cargo.toml, under `[dev-dependencies]`, \
             `connect-sdk = { version = \"0.1\", features = [\"testkit\"] }`, with the version or path that it has above"
        )
    }};
}
