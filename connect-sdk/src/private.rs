//! The only names that generated code may use.

pub use crate::data::derive_support as data;
pub use crate::{
    error::{Classify, Result, TaskError},
    sink::{BufferedSink, Direct, DirectSink, SinkConnector, SinkMeta},
    source::{
        AtLeastOnce, CommitHook, DefinesTransactions, ExactlyOnce, FieldKind, FieldMap, FieldMeta, FieldValue, NoHook,
        RestoreError, Source, SourceConnector, SourceMeta, SourceOffset, SourcePartition,
        offset::{Ops, offset_field, partition_field, restore_field},
    },
};
pub use ::core;
pub use ::core::{
    option::Option::{self, None, Some},
    result::Result::{Err, Ok},
};
pub use ::std;
