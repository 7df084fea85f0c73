//! Object-safe twins of the author's traits, by blanket impls: what the runtime and the testkit work with.

mod sink;
mod source;

pub use sink::{DynSink, DynSinkConnector, SinkDescriptor};
pub use source::{DynHook, DynSource, DynSourceConnector, Polled, SourceDescriptor};

use std::{collections::BTreeMap, pin::Pin};

/// A future behind a pointer; one is made for each poll, put or pre_commit, never for a record.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connector's configuration as text.
pub type Properties = BTreeMap<String, String>;
